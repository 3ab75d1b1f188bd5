"""The peer of loadtest/vector_search.ts: pgvector with HNSW in PostgreSQL (PyPI pgserver, Unix socket), queried by pgbench with prepared statements.

python pgvector.py DOCUMENTS.ndjson VECTORS.npy QUERIES.json DIRECTORY RECALL SECONDS ROUNDS CONNECTIONS [SERVER_CORE CLIENT_CORE]

QUERIES.json contains {vectors: [text of a vector], exact: [the numbers of its ten nearest]}. Two values of hnsw.ef_search are measured: the largest whose recall is not above RECALL (the smallest, if there is none), and the default.
A row of the table has key and metadata, which the answer contains. Prints one JSON line per round.
"""

import io
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy
import pgserver
import psycopg2
from postgres_server import TOOLS, restart

DEFAULT_WIDTH = 40
WIDTHS = (10, 15, 20, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300, 400)
SEARCH = "select key, lang, meta, 1 - (e <=> {0}::vector) from v order by e <=> {0}::vector limit 10"


def pin(directory, core):
    """Pins all processes of the server to a core; those of later connections inherit it."""
    with open(os.path.join(directory, "postmaster.pid")) as file:
        first = file.readline().strip()
    children = subprocess.run(["pgrep", "-P", first], capture_output=True, text=True).stdout.split()
    for process in (first, *children):
        subprocess.run(["taskset", "-p", "-c", core, process], stdout=subprocess.DEVNULL, check=True)


def load(cursor, documents, vectors):
    cursor.execute("create extension if not exists vector")
    cursor.execute(f"create table v(id int primary key, key text, lang text, meta jsonb, e vector({vectors.shape[1]}))")
    rows = io.StringIO()
    for number, (line, vector) in enumerate(zip(open(documents, encoding="utf-8"), vectors)):
        document = json.loads(line)
        meta = json.dumps(document["meta"]).replace("\\", "\\\\")
        rows.write(f"{number}\t{document['key']}\t{document['lang']}\t{meta}\t[{','.join(map(str, vector.tolist()))}]\n")
    rows.seek(0)
    cursor.copy_expert("copy v from stdin", rows)
    cursor.execute("set max_parallel_maintenance_workers = 2")
    cursor.execute("create index vh on v using hnsw(e vector_cosine_ops) with (m = 16, ef_construction = 128)")
    cursor.execute("vacuum analyze v")


def recall_at(cursor, width, queries):
    cursor.execute(f"set hnsw.ef_search = {width}")
    found = 0
    for vector, exact in zip(queries["vectors"], queries["exact"]):
        cursor.execute("select id from v order by e <=> %s::vector limit 10", (vector,))
        found += len({row[0] for row in cursor.fetchall()} & set(exact))
    return found / (10 * len(queries["vectors"]))


def measure(uri, width, queries, seconds, connections, core):
    """Each query is a separate script, with its vector as a parameter of the prepared statement."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        for number, vector in enumerate(queries["vectors"]):
            script = os.path.join(folder, f"{number}.sql")
            with open(script, "w") as out:
                out.write(SEARCH.format(f":q{number}") + ";\n")
            arguments += ["-D", f"q{number}={vector}", "-f", script]
        prefix = ["taskset", "-c", core] if core else []
        log = ["--log", "--log-prefix", os.path.join(folder, "log")]
        command = [*prefix, os.path.join(TOOLS, "pgbench"), "-n", "-M", "prepared", "-c", connections, "-j", "1", "-T", seconds, *log, *arguments, uri]
        environment = {**os.environ, "PGOPTIONS": f"-c hnsw.ef_search={width} -c plan_cache_mode=force_generic_plan"}
        run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        times = []
        for name in os.listdir(folder):
            if name.startswith("log"):
                times += [int(line.split()[2]) for line in open(os.path.join(folder, name))]
    rate = re.search(r"tps = ([\d.]+)", run.stdout)
    p50, p99 = (float(numpy.percentile(times, share)) / 1000 for share in (50, 99))
    return {"perSecond": float(rate[1]), "p50Ms": p50, "p99Ms": p99}


def main():
    documents, vectors, queries, directory, recall, seconds, rounds, connections = sys.argv[1:9]
    server_core, client_core = (sys.argv[9:] + [None, None])[:2]
    queries = json.load(open(queries))
    server = pgserver.get_server(directory, cleanup_mode="stop")
    uri = server.get_uri()
    restart(uri, directory)
    connection = psycopg2.connect(uri)
    connection.autocommit = True
    cursor = connection.cursor()
    load(cursor, documents, numpy.load(vectors).astype("float32"))
    if server_core:
        pin(directory, server_core)
    cursor.execute("explain " + SEARCH.format("%s"), (queries["vectors"][0],) * 2)
    if "vh" not in str(cursor.fetchall()):
        raise RuntimeError("the index is not used")
    recalls = {width: recall_at(cursor, width, queries) for width in WIDTHS}
    equal = max((width for width in WIDTHS if recalls[width] <= float(recall)), default=WIDTHS[0])
    cursor.execute("select extversion, current_setting('server_version') from pg_extension where extname = 'vector'")
    version = " in ".join(cursor.fetchone())
    for number in range(int(rounds) + 1):
        for width in sorted({equal, DEFAULT_WIDTH}):
            row = measure(uri, width, queries, seconds, connections, client_core)
            # The first round warms up.
            if number > 0:
                print(json.dumps({"version": version, "width": width, "recall": recalls[width], **row}), flush=True)
    connection.close()
    server.cleanup()


main()
