"""Durable inserts with full-text into PostgreSQL (PyPI pgserver, Unix socket), by pgbench: python postgres_insert.py CORPUS.ndjson DIR SECONDS CONNECTIONS...

The corpus is loaded into a plain table first; each measured transaction copies one random document of it, under a new key, into a table with a unique key, a generated tsvector and a
GIN index on it, at PostgreSQL's default durability (fsync and synchronous_commit on). Prints one JSON line per number of connections.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import pgserver
import psycopg2
from postgres_server import TOOLS, restart
from psycopg2.extras import execute_values

TARGET = """
drop table if exists w2;
create table w2(id serial primary key, key text unique, meta jsonb, content text,
                tsv tsvector generated always as (to_tsvector('english', content)) stored);
create index w2g on w2 using gin(tsv)
"""
INSERT = "\\set i random(1,{documents})\ninsert into w2(key,meta,content) select key||random(),meta,content from d where id=:i;\n"


def load(cursor, corpus):
    documents = [json.loads(line) for line in open(corpus, encoding="utf-8")]
    cursor.execute("drop table if exists d; create table d(id serial primary key, key text, meta jsonb, content text)")
    rows = [(d["key"], json.dumps(d["meta"]), d["contentMd"].replace("\0", "")) for d in documents]
    for begin in range(0, len(rows), 500):
        execute_values(cursor, "insert into d(key,meta,content) values %s", rows[begin : begin + 500])
    return len(documents)


def measure(uri, documents, seconds, connections):
    with tempfile.NamedTemporaryFile("w", suffix=".sql", delete=False) as script:
        script.write(INSERT.format(documents=documents))
    os.chmod(script.name, 0o644)
    command = [os.path.join(TOOLS, "pgbench"), "-n", "-M", "prepared", "-c", str(connections), "-j", "1", "-T", str(seconds), "-f", script.name, uri]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    os.unlink(script.name)
    rate = re.search(r"tps = ([\d.]+)", run.stdout)
    latency = re.search(r"latency average = ([\d.]+)", run.stdout)
    print(json.dumps({"connections": connections, "perSecond": float(rate[1]), "meanMs": float(latency[1])}), flush=True)


def main():
    corpus, directory, seconds = sys.argv[1:4]
    server = pgserver.get_server(directory, cleanup_mode="stop")
    uri = server.get_uri()
    restart(uri, directory)
    connection = psycopg2.connect(uri)
    connection.autocommit = True
    cursor = connection.cursor()
    documents = load(cursor, corpus)
    for connections in sys.argv[4:]:
        cursor.execute(TARGET)
        measure(uri, documents, seconds, int(connections))
    connection.close()
    server.cleanup()


main()
