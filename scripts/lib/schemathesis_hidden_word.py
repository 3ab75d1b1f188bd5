"""A check of schemathesis: no answer has the word of the environment variable MDS_HIDDEN_WORD."""

import os

import schemathesis

HIDDEN = os.environ.get("MDS_HIDDEN_WORD", "").encode()


@schemathesis.check
def no_hidden_word(ctx, response, case):
    shown = response.content + repr(response.headers).encode()
    if HIDDEN and HIDDEN in shown:
        raise AssertionError(f"the answer shows a word of a collection that the caller may not read: {shown[:500]!r}")
