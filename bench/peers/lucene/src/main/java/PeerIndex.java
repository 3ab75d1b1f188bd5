import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.MMapDirectory;

/**
 * The index of the peer: content with positions, key stored. It is merged into one segment after indexing,
 * like the indexes of the other peers. Only indexing is timed, not the parsing of the corpus.
 */
final class PeerIndex {
  static final Analyzer ANALYZER = new EnglishAnalyzer();
  private static final BM25Similarity SIMILARITY = new BM25Similarity(1.2f, 0.75f);
  private static final double WRITER_MEGABYTES = 256;

  private final Path corpus;
  private final Path directory;
  private IndexSearcher searcher;

  private record Text(String key, String content) {}

  PeerIndex(String corpus, String directory) {
    this.corpus = Path.of(corpus);
    this.directory = Path.of(directory);
  }

  IndexSearcher searcher() {
    return searcher;
  }

  /** Opens the index that an earlier run built in the directory. */
  String open() throws IOException {
    DirectoryReader reader = DirectoryReader.open(new MMapDirectory(directory));
    searcher = new IndexSearcher(reader);
    searcher.setSimilarity(SIMILARITY);
    searcher.setQueryCache(null);
    return LucenePeer.json("{\"documents\":%d}", reader.numDocs());
  }

  /** Replaces the contents of the directory. */
  String build() throws IOException {
    List<Text> texts = readCorpus();
    IndexWriterConfig config = new IndexWriterConfig(ANALYZER).setSimilarity(SIMILARITY).setRAMBufferSizeMB(WRITER_MEGABYTES).setOpenMode(IndexWriterConfig.OpenMode.CREATE);
    double seconds;
    double mergeSeconds;
    try (MMapDirectory target = new MMapDirectory(directory)) {
      long begun = System.nanoTime();
      try (IndexWriter writer = new IndexWriter(target, config)) {
        for (Text text : texts) {
          Document document = new Document();
          document.add(new StringField("key", text.key, Field.Store.YES));
          document.add(new TextField("content", text.content, Field.Store.NO));
          writer.addDocument(document);
        }
        writer.commit();
        seconds = (System.nanoTime() - begun) / 1e9;
        writer.forceMerge(1);
        writer.commit();
        mergeSeconds = (System.nanoTime() - begun) / 1e9 - seconds;
      }
      long bytes = 0;
      for (String file : target.listAll()) bytes += target.fileLength(file);
      open();
      return LucenePeer.json("{\"documents\":%d,\"seconds\":%.3f,\"mergeSeconds\":%.3f,\"bytes\":%d}", texts.size(), seconds, mergeSeconds, bytes);
    }
  }

  private List<Text> readCorpus() throws IOException {
    List<Text> texts = new ArrayList<>();
    try (BufferedReader lines = Files.newBufferedReader(corpus)) {
      for (String line; (line = lines.readLine()) != null; ) {
        if (line.isEmpty()) continue;
        JsonObject document = JsonParser.parseString(line).getAsJsonObject();
        texts.add(new Text(document.get("key").getAsString(), document.get("contentMd").getAsString()));
      }
    }
    return texts;
  }
}
