"""
Uses a server as the Python client of the reference and its LangChain adapter do. Arguments: address of a server
with access control, its CA or `-`, an API key, a token; address of an open server with vectors. Prints `ok`, or
fails.
"""
import socket
import sys

import grpc

from mddb_client import MddbClient, mddb_pb2 as pb

LARGE_BYTES = 9_000_000

address, ca, key, token, open_address = sys.argv[1:6]
tls = {} if ca == "-" else {"secure": True, "root_certificates": open(ca, "rb").read()}


def code_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code(), error.details()
    raise AssertionError("the call was not refused")


def name(key):
    return pb.GetRequest(collection="wrapped", key=key, lang="en")


# Credentials: a key, a token, both, none.
for shown in ({"api_key": key}, {"token": token}, {"api_key": key, "token": token}):
    with MddbClient(address, **tls, **shown) as client:
        client.wait_for_ready(5)
        meta = {"tag": pb.MetaValues(values=["a", "b"])}
        request = pb.AddRequest(collection="wrapped", key="one", lang="en", content_md="# A", meta=meta)
        assert client.Add(request).id == "wrapped|one|en"
        assert client.Get(name("one"), timeout=10).content_md == "# A"
        code, details = code_of(lambda: client.Get(name("none")))
        assert code == grpc.StatusCode.NOT_FOUND and "not found" in details, (code, details)
        assert client.Search(pb.SearchRequest(collection="wrapped", limit=10)).total == 1
    try:
        client.Get(name("one"))
        raise AssertionError("a closed client was answered")
    except ValueError:
        pass
with MddbClient(address, **tls) as client:
    assert code_of(lambda: client.Get(name("one")))[0] == grpc.StatusCode.UNAUTHENTICATED

# Time limits: of the client, of a call, and without a server.
with socket.create_server(("127.0.0.1", 0)) as silent:
    of_silent = "127.0.0.1:%d" % silent.getsockname()[1]
    with MddbClient(of_silent, timeout=0.3) as client:
        assert code_of(lambda: client.Get(name("one")))[0] == grpc.StatusCode.DEADLINE_EXCEEDED
    with MddbClient(of_silent) as client:
        assert code_of(lambda: client.Get(name("one"), timeout=0.3))[0] == grpc.StatusCode.DEADLINE_EXCEEDED
with MddbClient("127.0.0.1:1") as client:
    try:
        client.wait_for_ready(0.3)
        raise AssertionError("ready without a server")
    except grpc.FutureTimeoutError:
        pass

# A channel of the caller stays open.
channel = grpc.insecure_channel(open_address)
MddbClient(channel=channel).close()
client = MddbClient(channel=channel)
assert client.Stats(pb.StatsRequest()).total_documents >= 0

# Every RPC is an attribute, and is answered: by an answer or by a status of the catalogue.
unary = {method.name: method for method in pb.DESCRIPTOR.services_by_name["MDDB"].methods if not method.server_streaming}
assert len(unary) > 50, len(unary)
known = {"INVALID_ARGUMENT", "NOT_FOUND", "UNIMPLEMENTED"}
for rpc, method in unary.items():
    try:
        getattr(client, rpc)(getattr(pb, method.input_type.name)())
    except grpc.RpcError as error:
        assert error.code().name in known, (rpc, error.code(), error.details())
channel.close()

# Large documents pass in both directions once the channel permits what is more than 4 MiB.
limits = [("grpc.max_receive_message_length", 10 * 2**20), ("grpc.max_send_message_length", 10 * 2**20)]
with MddbClient(open_address, channel_options=limits) as client:
    client.Add(pb.AddRequest(collection="large", key="one", lang="en", content_md="x" * LARGE_BYTES))
    assert len(client.Get(pb.GetRequest(collection="large", key="one", lang="en")).content_md) == LARGE_BYTES

# The adapter for LangChain: texts in one batch under keys of its own, three searches, a filter, advice.
with MddbClient(open_address) as client:
    texts = {"lc-0": "a kingfisher by the river", "lc-1": "a heron in the reeds"}
    meta = {"tag": pb.MetaValues(values=["a"])}
    documents = [pb.BatchDocument(key=key, lang="en", content_md=text, meta=meta) for key, text in texts.items()]
    assert client.AddBatch(pb.AddBatchRequest(collection="lc", documents=documents)).added == 2
    about = {"collection": "lc", "query": "kingfisher"}
    found = client.FTS(pb.FTSRequest(**about, limit=4)).results[0]
    assert found.document.content_md == texts["lc-0"] and found.score > 0, found
    mixed = client.HybridSearch(pb.HybridSearchRequest(**about, top_k=4, filter_meta=meta)).results[0]
    assert mixed.document.key == "lc-0" and mixed.combined_score > 0, mixed
    assert dict(mixed.document.meta)["tag"].values[:] == ["a"], mixed
    client.VectorSearch(pb.VectorSearchRequest(**about, top_k=4))
    assert client.SearchAdvisor(pb.SearchAdvisorRequest(collection="lc")).collection == "lc"
    gone = client.DeleteBatch(pb.DeleteBatchRequest(collection="lc", documents=[pb.DeleteDocument(key="lc-0", lang="en")]))
    assert (gone.deleted, gone.not_found, gone.failed) == (1, 0, 0), gone
print("ok")
