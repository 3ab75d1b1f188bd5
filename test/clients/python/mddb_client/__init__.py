"""
Stand-in for the Python client of the reference: a package whose generated modules are inside it and import each
other relatively, and a wrapper that has every RPC as an attribute.
"""
import grpc

from . import mddb_pb2, mddb_pb2_grpc

__all__ = ["MddbClient", "mddb_pb2", "mddb_pb2_grpc"]


class MddbClient:
    def __init__(
        self,
        address="localhost:11024",
        *,
        secure=False,
        root_certificates=None,
        api_key=None,
        token=None,
        timeout=30.0,
        channel_options=None,
        channel=None,
    ):
        self._timeout = timeout
        self._is_own = channel is None
        if channel is None and secure:
            credentials = grpc.ssl_channel_credentials(root_certificates=root_certificates)
            channel = grpc.secure_channel(address, credentials, options=channel_options)
        elif channel is None:
            channel = grpc.insecure_channel(address, options=channel_options)
        self._channel = channel
        self.stub = mddb_pb2_grpc.MDDBStub(channel)
        shown = {"x-api-key": api_key, "authorization": token and f"Bearer {token}"}
        self.metadata = tuple((name, value) for name, value in shown.items() if value)

    def __getattr__(self, name):
        rpc = getattr(self.stub, name)

        def call(request, *, timeout=None):
            return rpc(request, timeout=self._timeout if timeout is None else timeout, metadata=self.metadata)

        return call

    def wait_for_ready(self, timeout=5.0):
        grpc.channel_ready_future(self._channel).result(timeout=timeout)

    def close(self):
        if self._is_own:
            self._channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
