import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.tokenattributes.PositionIncrementAttribute;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.WildcardQuery;

/**
 * The query of each class. Terms are OR. The phrase classes are one phrase with the gaps of its stop words.
 * `a AND b NOT c` is a boolean query. Misspelt words match within a number of edits. Patterns are wildcards.
 * Queries are built before the clock starts.
 */
final class PeerQueries {
  private record Word(Term term, int position) {}

  private final JsonObject classes;

  PeerQueries(String path) throws IOException {
    classes = JsonParser.parseString(Files.readString(Path.of(path))).getAsJsonObject();
  }

  List<Query> parsed(String kind) throws IOException {
    JsonArray texts = classes.getAsJsonArray(kind.equals("fuzzy2") ? "fuzzy1" : kind);
    List<Query> queries = new ArrayList<>();
    for (JsonElement text : texts) queries.add(parse(kind, text.getAsString()));
    return queries;
  }

  private static Query parse(String kind, String text) throws IOException {
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    if (kind.startsWith("phrase")) return phrase(words(text));
    if (kind.startsWith("fuzzy")) return fuzzy(words(text), Integer.parseInt(kind.substring("fuzzy".length())));
    if (kind.equals("wild")) return new WildcardQuery(new Term("content", text));
    if (kind.equals("and2")) return bag(text.replace(" AND ", " "), Occur.MUST);
    if (!kind.equals("bool3")) return bag(text, Occur.SHOULD);
    String[] parts = text.split(" NOT ");
    add(query, parts[0].replace(" AND ", " "), Occur.MUST);
    add(query, parts[1], Occur.MUST_NOT);
    return query.build();
  }

  /** Lucene's defaults: no fixed prefix, the 50 best words, and a transposition counts as one edit. */
  private static Query fuzzy(List<Word> words, int edits) {
    if (words.size() == 1) return new FuzzyQuery(words.get(0).term, edits);
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    for (Word word : words) query.add(new FuzzyQuery(word.term, edits), Occur.SHOULD);
    return query.build();
  }

  private static Query phrase(List<Word> words) {
    PhraseQuery.Builder phrase = new PhraseQuery.Builder();
    for (Word word : words) phrase.add(word.term, word.position);
    return phrase.build();
  }

  /** Each term once; a single term is not wrapped in a boolean query. */
  private static Query bag(String text, Occur occur) throws IOException {
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    add(query, text, occur);
    BooleanQuery bag = query.build();
    return bag.clauses().size() == 1 ? bag.clauses().get(0).getQuery() : bag;
  }

  private static void add(BooleanQuery.Builder query, String text, Occur occur) throws IOException {
    LinkedHashSet<Term> terms = new LinkedHashSet<>();
    for (Word word : words(text)) terms.add(word.term);
    for (Term term : terms) query.add(new TermQuery(term), occur);
  }

  private static List<Word> words(String text) throws IOException {
    List<Word> words = new ArrayList<>();
    int position = -1;
    try (TokenStream stream = PeerIndex.ANALYZER.tokenStream("content", text)) {
      CharTermAttribute term = stream.addAttribute(CharTermAttribute.class);
      PositionIncrementAttribute increment = stream.addAttribute(PositionIncrementAttribute.class);
      stream.reset();
      while (stream.incrementToken()) {
        position += increment.getPositionIncrement();
        words.add(new Word(new Term("content", term.toString()), position));
      }
      stream.end();
    }
    return words;
  }
}
