"""Asks the platform who is calling, through flyte as it is released.

Usage: flyte_calls.py CONFIG; or flyte_calls.py without an argument: with FLYTE_API_KEY as a program
outside of a cluster, without it as a task pod, which has EAGER_API_KEY. Every line on stdin is one call; every call is answered by one line of JSON: the subject and the name, or
the class of the error.
"""

import json
import os
import sys

import flyte
from flyte.remote import User

if len(sys.argv) > 1:
    flyte.init_from_config(sys.argv[1])
elif "FLYTE_API_KEY" in os.environ:
    flyte.init_from_api_key()
else:
    flyte.init_in_cluster()

for _ in sys.stdin:
    try:
        person = User.get()
        answer = {"subject": person.subject(), "name": person.name()}
    except Exception as failure:
        answer = {"error": type(failure).__name__, "detail": str(failure)}
    print(json.dumps(answer), flush=True)

# The threads of its native parts now and then end the interpreter with a signal while it shuts down.
sys.stderr.flush()
os._exit(0)
