"""Imports every module that openapi-python-client generated and uses the client on a running server: python_client.py URL OPERATIONS."""
import importlib
import pkgutil
import sys

import mds_client
from mds_client import Client
from mds_client.models import AddRequest, AddRequestMetaType0, DeleteStopWordsAnswer, Document, Error, FtsAnswer, FtsRequest, FtsRequestAlgorithm

url, operations = sys.argv[1], int(sys.argv[2])
modules = [module.name for module in pkgutil.walk_packages(mds_client.__path__, "mds_client.")]
functions = [getattr(importlib.import_module(name), "sync_detailed", None) for name in modules]
made = len([function for function in functions if function is not None])
assert made == operations, f"{made} operations of {operations}"


def operation(name):
    [found] = [module for module in modules if module.endswith("." + name)]
    return importlib.import_module(found)


client = Client(base_url=url)
meta = AddRequestMetaType0.from_dict({"tag": ["x"]})
added = operation("add").sync(client=client, body=AddRequest(collection="python", key="a", lang="en", content_md="# Generated", meta=meta))
assert isinstance(added, Document) and added.key == "a", added
wanted = FtsRequest(collection="python", query="generated", algorithm=FtsRequestAlgorithm.BM25)
found = operation("fts").sync(client=client, body=wanted)
assert isinstance(found, FtsAnswer) and [hit.document.key for hit in found.results] == ["a"], found
removed = operation("delete_stop_words").sync(client=client, collection="python", words=["foo"])
assert isinstance(removed, DeleteStopWordsAnswer) and removed.deleted == 0, removed
missing = operation("doc_meta").sync(client=client, collection="python", key="none")
assert isinstance(missing, Error) and missing.error == "not found", missing
print(f"{made} operations, used")
