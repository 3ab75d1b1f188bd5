import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;

/**
 * One measurement: whole passes over the queries of a class until the time is up, so that every query has the
 * same weight. Returns the best ten by score: `top` their numbers only, `keys` the stored key of each,
 * `exact` their numbers and the count of all matches, which prevents skipping.
 */
final class Measurement {
  private static final int LIMIT = 10;
  /** Lucene's default in `search(query, 10)`: it stops counting there and may skip from then on. */
  private static final int COUNTED = 1_000;
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 1_099_511_628_211L;

  private static TopDocs search(IndexSearcher searcher, Query query, boolean exact) throws IOException {
    return searcher.search(query, new TopScoreDocCollectorManager(LIMIT, null, exact ? Integer.MAX_VALUE : COUNTED, false));
  }

  /** Folds the keys of the hits, in order, into a checksum. */
  private static long foldKeys(StoredFields stored, TopDocs found, long checksum) throws IOException {
    for (ScoreDoc hit : found.scoreDocs) {
      for (byte each : stored.document(hit.doc).get("key").getBytes(StandardCharsets.UTF_8)) checksum = (checksum ^ (each & 0xff)) * FNV_PRIME;
    }
    return checksum;
  }

  static String of(IndexSearcher searcher, List<Query> queries, String wanted, double seconds) throws IOException {
    boolean exact = wanted.equals("exact");
    boolean keys = wanted.equals("keys");
    StoredFields stored = searcher.storedFields();
    long hits = 0;
    long matches = 0;
    long checksum = FNV_OFFSET;
    for (Query query : queries) {
      TopDocs found = search(searcher, query, exact);
      hits += found.scoreDocs.length;
      matches += found.totalHits.value;
      checksum = foldKeys(stored, found, checksum);
    }
    double[] micros = new double[1 << 16];
    int count = 0;
    long begun = System.nanoTime();
    do {
      for (Query query : queries) {
        long asked = System.nanoTime();
        TopDocs found = search(searcher, query, exact);
        if (keys) sink = foldKeys(stored, found, sink);
        if (count == micros.length) micros = Arrays.copyOf(micros, count * 2);
        micros[count++] = (System.nanoTime() - asked) / 1e3;
      }
    } while (System.nanoTime() - begun < seconds * 1e9);
    double elapsed = (System.nanoTime() - begun) / 1e9;
    Arrays.sort(micros, 0, count);
    double size = queries.size();
    return LucenePeer.json(
        "{\"queries\":%d,\"perSecond\":%.1f,\"p50Us\":%.1f,\"p99Us\":%.1f,\"hits\":%.2f,\"matches\":%.1f,\"checksum\":\"%016x\"}",
        queries.size(), count / elapsed, micros[count / 2], micros[(int) (count * 0.99)], hits / size, matches / size, checksum);
  }

  /** Sink for the values read, so that the compiler does not remove the reads. */
  private static volatile long sink;

  private Measurement() {}
}
