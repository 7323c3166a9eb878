"""Asks the platform who is calling, through flytekit as it is released.

Usage: flytekit_calls.py CONFIG. Every line on stdin is one call; every call is answered by one line
of JSON: the subject and the name, or the class of the error.
"""

import json
import sys

from flyteidl.service import identity_pb2, identity_pb2_grpc
from flytekit.clients.friendly import SynchronousFlyteClient
from flytekit.configuration import PlatformConfig

client = SynchronousFlyteClient(PlatformConfig.auto(sys.argv[1]))
identity = identity_pb2_grpc.IdentityServiceStub(client._channel)

for _ in sys.stdin:
    try:
        person = identity.UserInfo(identity_pb2.UserInfoRequest())
        answer = {"subject": person.subject, "name": person.name}
    except Exception as failure:
        answer = {"error": type(failure).__name__, "detail": str(failure)}
    print(json.dumps(answer), flush=True)
