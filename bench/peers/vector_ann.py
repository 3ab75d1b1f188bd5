"""The peers of bench/vectors/vector_search.ts: faiss and hnswlib on the same vectors, one thread, processor time.

vector_ann.py prepare VECTORS.npy QUERIES.npy DIRECTORY     writes documents.f32 and queries.f32 for our side
vector_ann.py measure DIRECTORY DIMS SECONDS                prints one JSON line per measurement; recall of the best ten against the exact ten
"""
import json
import os
import sys
import time

import numpy


def prepare(documents, queries, directory):
    for source, name in ((documents, "documents.f32"), (queries, "queries.f32")):
        numpy.ascontiguousarray(numpy.load(source), "float32").tofile(os.path.join(directory, name))
    print(json.dumps({"dims": int(numpy.load(documents).shape[1])}))


class Bench:
    def __init__(self, directory, dims, seconds):
        self.directory = directory
        self.dims = dims
        self.seconds = seconds
        self.documents = numpy.fromfile(os.path.join(directory, "documents.f32"), "float32").reshape(-1, dims)
        self.queries = numpy.fromfile(os.path.join(directory, "queries.f32"), "float32").reshape(-1, dims)
        self.exact = numpy.argsort(-(self.queries @ self.documents.T), axis=1)[:, :10]

    def report(self, **row):
        print(json.dumps(row), flush=True)

    def search(self, peer, kind, expansion, ask):
        """`ask(query)` returns the numbers of the best ten."""
        found = [len(set(self.exact[index]) & set(ask(query))) for index, query in enumerate(self.queries)]
        begin = time.process_time()
        times = []
        while time.process_time() - begin < self.seconds:
            for query in self.queries:
                start = time.process_time()
                ask(query)
                times.append(time.process_time() - start)
        per_second = len(times) / (time.process_time() - begin)
        self.report(step="search", peer=peer, kind=kind, expansion=expansion, recall=float(numpy.mean(found)) / 10, perSecond=round(per_second), p50Us=round(float(numpy.median(times)) * 1e6))

    def build(self, peer, add):
        begin = time.process_time()
        add()
        self.report(step="build", peer=peer, perSecond=round(len(self.documents) / (time.process_time() - begin)))

    def run_faiss(self):
        import faiss

        faiss.omp_set_num_threads(1)
        flat = faiss.IndexFlatIP(self.dims)
        flat.add(self.documents)
        self.search("faiss", "flat", 0, lambda query: flat.search(query[None], 10)[1][0])
        graph = faiss.IndexHNSWFlat(self.dims, 16, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = 200
        self.build("faiss", lambda: graph.add(self.documents))
        for expansion in (24, 32, 40, 48, 64, 80):
            graph.hnsw.efSearch = expansion
            self.search("faiss", "hnsw", expansion, lambda query: graph.search(query[None], 10)[1][0])

    def run_hnswlib(self):
        import hnswlib

        graph = hnswlib.Index("ip", self.dims)
        graph.init_index(len(self.documents), M=16, ef_construction=200)
        graph.set_num_threads(1)
        self.build("hnswlib", lambda: graph.add_items(self.documents, num_threads=1))
        path = os.path.join(self.directory, "hnswlib.bin")
        graph.save_index(path)
        self.report(step="bytes", peer="hnswlib", memory=os.path.getsize(path) / len(self.documents))
        for expansion in (24, 32, 40, 48, 64, 80):
            graph.set_ef(expansion)
            self.search("hnswlib", "hnsw", expansion, lambda query: graph.knn_query(query, 10, num_threads=1)[0][0])


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(*sys.argv[2:5])
    else:
        bench = Bench(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
        for run in (bench.run_hnswlib, bench.run_faiss):
            try:
                run()
            except ImportError as cause:
                print(f"a peer is left out: {cause}", file=sys.stderr)
