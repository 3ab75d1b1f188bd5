"""
Uses a server by code that grpcio-tools generates from the proto: writes, reads, searches, exports, counts, and
meets the errors that clients tell apart. Arguments: address, token of a writer. Prints `ok`, or fails.
"""
import sys

import grpc

import mddb_pb2
import mddb_pb2_grpc

address, token = sys.argv[1:3]
credentials = [("authorization", f"Bearer {token}")]
stub = mddb_pb2_grpc.MDDBStub(grpc.insecure_channel(address))


def refusal(call, request, metadata):
    try:
        call(request, metadata=metadata, timeout=30)
    except grpc.RpcError as error:
        return error.code(), error.details()
    raise AssertionError("the call was not refused")


meta = {"tags": mddb_pb2.MetaValues(values=["a", "b"])}
request = mddb_pb2.AddRequest(collection="python", key="one", lang="en", meta=meta, content_md="a kingfisher")
added = stub.Add(request, metadata=credentials, timeout=30)
assert added.id == "python|one|en" and added.added_at > 0, added

name = mddb_pb2.GetRequest(collection="python", key="one", lang="en")
found = stub.Get(name, metadata=credentials, timeout=30)
assert found.content_md == "a kingfisher" and list(found.meta["tags"].values) == ["a", "b"], found

listed = stub.Search(mddb_pb2.SearchRequest(collection="python", filter_meta={"tags": mddb_pb2.MetaValues(values=["a"])}), metadata=credentials)
assert listed.total == 1 and listed.documents[0].key == "one", listed

searched = stub.FTS(mddb_pb2.FTSRequest(collection="python", query="kingfisher"), metadata=credentials)
assert searched.results[0].document.key == "one", searched

chunks = list(stub.Export(mddb_pb2.ExportRequest(collection="python", format="ndjson"), metadata=credentials))
assert chunks[-1].is_last and b'"a kingfisher"' in b"".join(chunk.data for chunk in chunks), chunks

updates = [mddb_pb2.UpdateDocument(key="one", lang="en", content_md="a heron"), mddb_pb2.UpdateDocument(key="two", lang="en", content_md="x")]
updated = stub.UpdateBatch(mddb_pb2.UpdateBatchRequest(collection="python", documents=updates), metadata=credentials)
assert (updated.updated, updated.not_found, updated.failed) == (1, 1, 0), updated

assert stub.Stats(mddb_pb2.StatsRequest(), metadata=credentials).total_documents >= 1

missing = mddb_pb2.GetRequest(collection="python", key="none", lang="en")
code, details = refusal(stub.Get, missing, credentials)
assert code == grpc.StatusCode.NOT_FOUND and "not found" in details, (code, details)
code, details = refusal(stub.Get, mddb_pb2.GetRequest(collection="python"), credentials)
assert code == grpc.StatusCode.INVALID_ARGUMENT, (code, details)
code, details = refusal(stub.Get, name, None)
assert code == grpc.StatusCode.UNAUTHENTICATED, (code, details)
code, details = refusal(stub.Get, name, [("authorization", "Bearer none")])
assert code == grpc.StatusCode.UNAUTHENTICATED, (code, details)
print("ok")
