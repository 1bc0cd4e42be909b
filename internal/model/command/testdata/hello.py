#!/usr/bin/env python3
"""A filesystem with one file, hello.txt, for llmfs-raw mount --model exec:hello.py."""
import json, sys

ENOENT, ENOSYS = 2, 38


def attr(node):
    file = node == 2
    return {
        "Ino": node, "Size": 6 if file else 0, "Blocks": 0, "Atime": 0, "Mtime": 0, "Ctime": 0,
        "Atimensec": 0, "Mtimensec": 0, "Ctimensec": 0, "Mode": 0o100444 if file else 0o40555,
        "Nlink": 1 if file else 2, "Owner": {"Uid": 0, "Gid": 0}, "Rdev": 0, "Blksize": 4096, "Flags": 0,
    }


def answer(op, request):
    node = request["Header"]["NodeId"]
    if op == "GETATTR":
        return {"Errno": 0, "Out": {"AttrValid": 60, "AttrValidNsec": 0, "Attr": attr(node)}}
    if op == "LOOKUP" and request["Names"] == ["hello.txt"]:
        return {"Errno": 0, "Out": {"NodeId": 2, "Generation": 0, "EntryValid": 60, "AttrValid": 60,
                                    "EntryValidNsec": 0, "AttrValidNsec": 0, "Attr": attr(2)}}
    if op == "READ":
        return {"Errno": 0, "Data": "hello\n"[request["In"]["Offset"]:][:request["In"]["Size"]]}
    return {"Errno": ENOENT if op == "LOOKUP" else ENOSYS}


for line in sys.stdin:
    message = json.loads(line)
    if "cancel" not in message:  # each request is answered before the next one is read
        reply = answer(message["op"], message["request"])
        print(json.dumps({"id": message["id"], "reply": reply}), flush=True)
