import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Lucene as a peer of the benches: reads commands from standard input and answers each with one JSON line, by
 * the protocol of all peers (bench/peers/peer_process.ts). One thread. EnglishAnalyzer, BM25 with k1 1.2 and
 * b 0.75, no query cache.
 * Arguments: CORPUS.ndjson QUERIES.json DIR
 */
public final class LucenePeer {
  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 3) throw new IllegalArgumentException("usage: LucenePeer CORPUS.ndjson QUERIES.json DIR");
    PeerIndex index = new PeerIndex(arguments[0], arguments[2]);
    PeerQueries queries = new PeerQueries(arguments[1]);
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = commands.readLine()) != null; ) {
      String[] words = line.split(" ");
      String answer =
          switch (words[0]) {
            case "index" -> index.build();
            case "open" -> index.open();
            case "measure" -> Measurement.of(index.searcher(), queries.parsed(words[1]), words[2], Double.parseDouble(words[3]));
            default -> throw new IllegalArgumentException("unknown command: " + line);
          };
      System.out.println(answer);
    }
  }

  static String json(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  private LucenePeer() {}
}
