import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.queryparser.classic.ParseException;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * Computes Lucene's BM25 scores of a small collection for test/golden/scores/lucene.json, for the queries of
 * scores.json that mean the same in Lucene's own syntax. Documents have at most 40 tokens, because Lucene
 * stores these lengths exactly. Lucene omits the factor k1 + 1 from its formula; it is multiplied in here.
 * Arguments: COLLECTION.json SCORES.json
 */
public final class GoldenScores {
  private static final float K1 = 1.2f;
  private static final float B = 0.75f;

  public static void main(String[] arguments) throws IOException, ParseException {
    if (arguments.length != 2) throw new IllegalArgumentException("usage: GoldenScores COLLECTION.json SCORES.json");
    Analyzer analyzer = new StandardAnalyzer();
    ByteBuffersDirectory directory = new ByteBuffersDirectory();
    try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(analyzer))) {
      for (JsonElement each : read(arguments[0])) {
        Document document = new Document();
        document.add(new StringField("key", each.getAsJsonObject().get("key").getAsString(), Field.Store.YES));
        document.add(new TextField("content", each.getAsJsonObject().get("contentMd").getAsString(), Field.Store.NO));
        writer.addDocument(document);
      }
    }
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(directory));
    searcher.setSimilarity(new BM25Similarity(K1, B));
    JsonArray cases = new JsonArray();
    for (JsonElement each : read(arguments[1])) {
      JsonObject asked = each.getAsJsonObject();
      boolean isSameSyntax = asked.get("mode").getAsString().matches("simple|boolean") && !asked.has("fuzzy");
      if (!isSameSyntax || !asked.get("algorithm").getAsString().equals("bm25")) continue;
      cases.add(scored(searcher, analyzer, asked));
    }
    System.out.println(new GsonBuilder().setPrettyPrinting().create().toJson(cases));
  }

  private static JsonObject scored(IndexSearcher searcher, Analyzer analyzer, JsonObject asked) throws IOException, ParseException {
    JsonArray results = new JsonArray();
    for (ScoreDoc hit : searcher.search(new QueryParser("content", analyzer).parse(asked.get("query").getAsString()), searcher.getIndexReader().maxDoc()).scoreDocs) {
      JsonArray result = new JsonArray();
      result.add(searcher.storedFields().document(hit.doc).get("key"));
      result.add((double) hit.score * (K1 + 1));
      results.add(result);
    }
    JsonObject answer = new JsonObject();
    for (String name : new String[] {"mode", "query", "algorithm"}) answer.add(name, asked.get(name));
    answer.add("results", results);
    return answer;
  }

  private static JsonArray read(String path) throws IOException {
    return JsonParser.parseString(Files.readString(Path.of(path))).getAsJsonArray();
  }

  private GoldenScores() {}
}
