"""Reads replies with the classes that quicktype has made, writes them again, and compares: read_replies.py FOLDER API."""
import json
import sys
from urllib.request import urlopen

folder, api = sys.argv[1:]
sys.path.insert(0, folder)
import replies  # noqa: E402


def is_part(again, reply):
    """Whether a class has kept what it has read. It leaves out what its schema does not name: members that a fork may add."""
    if isinstance(again, dict):
        return isinstance(reply, dict) and all(is_part(member, reply.get(name)) for name, member in again.items())
    if isinstance(again, list):
        return len(again) == len(reply) and all(map(is_part, again, reply))
    return again == reply


def check(schema, reply):
    again = replies.Replies.from_dict({schema: reply}).to_dict()[schema]
    assert is_part(again, reply), f"{schema}: {again} is not {reply}"


with open(f"{folder}/examples.json", encoding="utf8") as file:
    examples = json.load(file)
for each in examples:
    check(each["schema"], each["example"])

# An amount above 2^53, which a double would round.
with urlopen(f"{api}/wallets?orderBy=balance:asc&limit=1") as response:
    reply = json.load(response)
check("GetWalletsReply", reply)
assert abs(int(reply["data"][0]["balance"])) > 2**53, reply
print(f"{len(examples)} replies have been read by Python classes.")
