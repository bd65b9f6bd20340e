"""Runs `operators` on .npy files and compares with Python's own floats.

usage: operators_test.py [launcher...] path/to/operators
"""

import itertools
import math
import os
import random
import stat
import struct
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1:]
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def header(shape, descr, order="False"):
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (
        descr, order, "".join("%d, " % extent for extent in shape))
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


CODES = {"<f2": "e", "<f4": "f", "<f8": "d", "|i1": "b", "<i4": "i", "<i8": "q", "|b1": "?", "|u1": "B"}


def save(path, shape, values, descr="<f4"):
    with open(path, "wb") as file:
        file.write(header(shape, descr) + struct.pack("<%d%s" % (len(values), CODES[descr]), *values))


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    length = struct.unpack("<H", data[8:10])[0]
    assert (10 + length) % 64 == 0
    described = eval(data[10:10 + length], {})
    assert not described["fortran_order"]
    body = data[10 + length:]
    code = CODES[described["descr"]]
    count = len(body) // struct.calcsize(code)
    return described["shape"], described["descr"], struct.unpack("<%d%s" % (count, code), body)


def run(*arguments):
    return subprocess.run(PROGRAM + list(arguments), capture_output=True, text=True)


def to_fp16(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


def to_bf16(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


# dtype: rounding of the input, relative error of rounding a result
DTYPES = {"fp32": (lambda x: x, 2.0**-24), "fp16": (to_fp16, 2.0**-11), "bf16": (to_bf16, 2.0**-8)}


def softmax(row, shown, log):
    kept = [x for x, s in zip(row, shown) if s]
    if not kept:
        return [-math.inf if log else 0.0] * len(row)
    top = max(kept)
    total = math.fsum(math.exp(x - top) for x in kept)
    if log:
        return [x - top - math.log(total) if s else -math.inf for x, s in zip(row, shown)]
    return [math.exp(x - top) / total if s else 0.0 for x, s in zip(row, shown)]


def test_softmax(folder):
    source = random.Random(1)
    shape, columns, queries = (2, 3, 33, 70), 70, 33
    rows = 2 * 3 * 33
    x = [struct.unpack("<f", struct.pack("<f", source.gauss(0, 2)))[0] for _ in range(rows * columns)]
    save(folder + "/x.npy", shape, x)
    # a boolean mask that repeats over the two leading axes; query 4 sees nothing
    boolean = [source.random() < 0.7 and i // columns != 4 for i in range(queries * columns)]
    save(folder + "/boolean.npy", (queries, columns), boolean, "|b1")
    # an additive mask of one row for each of the three, some of it -infinity
    additive = [source.choice([0.0, -0.5, 1.0, -math.inf]) for _ in range(3 * columns)]
    save(folder + "/additive.npy", (3, 1, columns), additive)
    for dtype, log, mask, causal in itertools.product(DTYPES, (False, True),
                                                      (None, "boolean", "additive"), (False, True)):
        name = "softmax %s log=%s mask=%s causal=%s" % (dtype, log, mask, causal)
        arguments = ["softmax", "--input", folder + "/x.npy", "--output", folder + "/y.npy",
                     "--dtype", dtype, "--scale", "0.5"]
        arguments += ["--log"] * log + ["--causal"] * causal
        arguments += ["--mask", "%s/%s.npy" % (folder, mask)] if mask else []
        outcome = run(*arguments)
        check(outcome.returncode == 0, name + ": " + outcome.stderr)
        if outcome.returncode != 0:
            continue
        got_shape, descr, y = load(folder + "/y.npy")
        check(got_shape == shape and descr == "<f4", name + ": shape or type")
        round_input, unit = DTYPES[dtype]
        for r in range(rows):
            q, h = r % queries, r // queries % 3
            shown, row = [], []
            for c in range(columns):
                bias = additive[h * columns + c] if mask == "additive" else 0.0
                row.append(0.5 * round_input(x[r * columns + c]) + bias)
                shown.append(bias != -math.inf and (mask != "boolean" or boolean[q * columns + c])
                             and (not causal or c <= q + columns - queries))
            for want, have in zip(softmax(row, shown, log), y[r * columns:(r + 1) * columns]):
                # rounding the result, and fp32 logits of magnitude <= 16 on the way: 16 * 2^-23
                allowed = unit * abs(want) + (2.0**-18 if log else 2.0**-18 * want + 2.0**-24)
                if not (want == have or abs(want - have) <= allowed):
                    check(False, "%s: row %d: %g instead of %g" % (name, r, have, want))
                    return


def test_reduce(folder):
    source = random.Random(2)
    shape = (4, 5, 6)
    index = list(itertools.product(range(4), range(5), range(6)))
    operations = {
        "sum": math.fsum, "mean": lambda v: math.fsum(v) / len(v), "product": math.prod, "min": min,
        "max": max, "sum_of_squares": lambda v: math.fsum(x * x for x in v),
        "argmin": lambda v: v.index(min(v)), "argmax": lambda v: v.index(max(v))}
    inputs = {"<f4": "<f4", "<f8": "<f8", "<f2": "<f4", "<i4": "<i4", "<i8": "<i8"}
    units = {"<f4": 2.0**-24, "<f8": 2.0**-53, "<f2": 2.0**-11}
    for descr, result_descr in inputs.items():
        integer = descr[1] == "i"
        values = [source.randint(-3, 3) if integer else source.choice([0.5, 0.75, 1.0, 1.25, -1.5])
                  for _ in index]
        save(folder + "/x.npy", shape, values, descr)
        for name, axis in itertools.product(operations, ("-1", "0", "1", "all")):
            if integer and name == "mean":
                continue
            outcome = run("reduce", "--input", folder + "/x.npy", "--output", folder + "/y.npy",
                          "--op", name, "--axis", axis)
            what = "reduce %s %s axis %s" % (name, descr, axis)
            check(outcome.returncode == 0, what + ": " + outcome.stderr)
            if outcome.returncode != 0:
                continue
            groups = {}
            for at, value in zip(index, values):
                key = () if axis == "all" else tuple(
                    a for i, a in enumerate(at) if i != int(axis) % 3)
                groups.setdefault(key, []).append(value)
            want_shape = () if axis == "all" else tuple(
                e for i, e in enumerate(shape) if i != int(axis) % 3)
            got_shape, got_descr, y = load(folder + "/y.npy")
            want_descr = "<i8" if name.startswith("arg") else result_descr
            check((got_shape, got_descr) == (want_shape, want_descr), what + ": shape or type")
            for key, have in zip(sorted(groups), y):
                want = operations[name](groups[key])
                # a rounding for each of 120 steps at most, of partial results no larger than `most`
                most = max(abs(want), math.fsum(abs(v) for v in groups[key]))
                allowed = 0 if integer or name.startswith(("arg", "m")) and name != "mean" else (
                    units[descr] * abs(want) + 120 * max(2.0**-24 * (descr != "<f8"), 2.0**-53) * most)
                check(abs(want - have) <= allowed, "%s: %r instead of %r" % (what, have, want))


ACTIVATIONS = {
    "none": lambda x: x, "relu": lambda x: max(x, 0.0), "silu": lambda x: x / (1 + math.exp(-x)),
    "gelu": lambda x: 0.5 * x * math.erfc(-x / math.sqrt(2)),
    "gelu_tanh": lambda x: 0.5 * x * (
        1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))}


def to_fp8(value):
    """e4m3 fnuz, to nearest even: three bits of fraction, from 2^-10 to 240."""
    step = 2.0 ** (max(math.frexp(value)[1] - 1, -7) - 3)
    return math.copysign(min(round(abs(value) / step) * step, 240.0), value)


def test_matmul(folder):
    source = random.Random(3)
    m, n, k, batches = 21, 34, 19, 2
    types = dict(DTYPES, fp64=(lambda x: x, 2.0**-53), fp8=(to_fp8, 2.0**-24), int8=(lambda x: x, 0.0))
    for dtype, trans_a, trans_b, batched, extras in itertools.product(
            types, (False, True), (False, True), (False, True), (False, True)):
        integer = dtype == "int8"
        round_input, unit = types[dtype]
        count = batches if batched else 1

        def data(name, shape, rounded=True):
            size = math.prod(shape)
            if integer:
                values = [source.randint(-128, 127) for _ in range(size)]
            else:
                values = [struct.unpack("<f", struct.pack("<f", source.gauss(0, 0.3)))[0]
                          for _ in range(size)]
            descr = "<f4" if not integer else "|i1" if trans_a and name in "ab" else "<i4"
            save("%s/%s.npy" % (folder, name), shape, values, descr)
            return [round_input(v) if rounded else v for v in values]

        stack = (count,) if batched else ()
        a = data("a", stack + ((k, m) if trans_a else (m, k)))
        b = data("b", (n, k) if trans_b else (k, n))  # one for all products
        arguments = ["matmul", "--a", folder + "/a.npy", "--b", folder + "/b.npy", "--output",
                     folder + "/d.npy", "--dtype", dtype]
        arguments += ["--transa"] * trans_a + ["--transb"] * trans_b + ["--batch"] * batched
        alpha, beta, activation = 1, 0, "none"
        c, bias = [0] * (count * m * n), [0] * n
        if extras:
            alpha, beta = (2, -3) if integer else (0.75, 0.5)
            activation = "relu" if integer or dtype == "fp64" else source.choice(list(ACTIVATIONS))
            c = data("c", stack + (m, n), rounded=dtype != "fp8")  # results of fp8 are fp32
            bias = data("bias", (n,), rounded=False)  # added in fp32
            arguments += ["--alpha", str(alpha), "--beta", str(beta), "--c", folder + "/c.npy",
                          "--bias", folder + "/bias.npy", "--activation", activation]
        what = " ".join(arguments)
        outcome = run(*arguments)
        check(outcome.returncode == 0, what + ": " + outcome.stderr)
        if outcome.returncode != 0:
            continue
        shape, descr, d = load(folder + "/d.npy")
        check((shape, descr) == (stack + (m, n), "<i4" if integer else
                                 "<f8" if dtype == "fp64" else "<f4"), what + ": shape or type")
        for at, (batch, i, j) in enumerate(itertools.product(range(count), range(m), range(n))):
            row = [a[batch * m * k + (x * m + i if trans_a else i * k + x)] for x in range(k)]
            column = [b[j * k + x if trans_b else x * n + j] for x in range(k)]
            value = alpha * math.fsum(x * y for x, y in zip(row, column)) + beta * c[at] + bias[j]
            want = ACTIVATIONS[activation](value)
            # every activation has a slope below 1.2; rounding of the result, and fp32 sums on the way
            terms = abs(alpha) * sum(abs(x * y) for x, y in zip(row, column)) + abs(beta * c[at])
            allowed = 0 if integer else unit * abs(want) + 1.2 * 4 * (k + 2) * (
                2.0**-53 if dtype == "fp64" else 2.0**-24) * (terms + abs(bias[j])) + 2.0**-22 * (
                dtype != "fp64")
            if not abs(want - d[at]) <= allowed:
                check(False, "%s: element %d: %r instead of %r" % (what, at, d[at], want))
                break


def test_attention(folder):
    source = random.Random(3)
    batch, queries, keys, heads, kv_heads, d = 2, 5, 9, 4, 2, 32
    exact = lambda count: [to_bf16(source.gauss(0, 1)) for _ in range(count)]
    q, k, v = (exact(batch * n * h * d) for n, h in ((queries, heads), (keys, kv_heads), (keys, kv_heads)))
    for name, rows, count, values in (("q", queries, heads, q), ("k", keys, kv_heads, k), ("v", keys, kv_heads, v)):
        save("%s/%s.npy" % (folder, name), (batch, rows, count, d), values)
    hidden = [source.random() < 0.3 for _ in range(queries * keys)]
    save(folder + "/keep.npy", (queries, keys), [not x for x in hidden], "|b1")
    row_of = lambda array, rows, count, b, s, h: array[((b * rows + s) * count + h) * d:][:d]
    cases = {
        "plain": [], "causal": ["--causal"], "top left": ["--causal", "--top-left"],
        "window": ["--window", "2,1"], "softcap and scale": ["--softcap", "1.5", "--scale", "0.4"],
        "mask": ["--mask", folder + "/keep.npy"], "lengths": ["--lengths", "4,9", "--q-lengths", "5,2"]}
    for name, options in cases.items():
        outcome = run("attention", *(part for x in "qkv" for part in ("--" + x, "%s/%s.npy" % (folder, x))),
                      "--output", folder + "/o.npy", "--lse", folder + "/lse.npy", *options)
        check(outcome.returncode == 0, "attention %s: %s" % (name, outcome.stderr))
        if outcome.returncode != 0:
            continue
        shape, _, o = load(folder + "/o.npy")
        lse_shape, _, lse = load(folder + "/lse.npy")
        check(shape == (batch, queries, heads, d) and lse_shape == (batch, heads, queries),
              "attention %s: shapes" % name)
        for b, i, h in itertools.product(range(batch), range(queries), range(heads)):
            count = (4, 9)[b] if name == "lengths" else keys
            rows = (5, 2)[b] if name == "lengths" else queries
            place = i if name == "top left" else i + count - rows
            logits = {}
            for j in range(count if i < rows else 0):
                if (name in ("causal", "top left") and j > place or name == "window" and not -2 <= j - place <= 1
                        or name == "mask" and hidden[i * keys + j]):
                    continue
                scale = 0.4 if name.startswith("softcap") else d**-0.5
                logit = scale * math.fsum(x * y for x, y in zip(row_of(q, queries, heads, b, i, h),
                                                                row_of(k, keys, kv_heads, b, j, h // 2)))
                logits[j] = 1.5 * math.tanh(logit / 1.5) if name.startswith("softcap") else logit
            total = math.fsum(math.exp(x) for x in logits.values())
            want = [math.fsum(math.exp(x) * row_of(v, keys, kv_heads, b, j, h // 2)[e] for j, x in logits.items())
                    / (total or 1) for e in range(d)]
            have = row_of(o, queries, heads, b, i, h)
            # probabilities are rounded to bf16, a relative error of 2^-8 each; |v| stays below 4
            good = all(abs(x - y) <= 4 * 2.0**-8 for x, y in zip(want, have))
            got_lse = lse[(b * heads + h) * queries + i]
            good_lse = i >= rows or (abs(got_lse - math.log(total)) < 2.0**-16 if total else got_lse == -math.inf)
            if not good or not good_lse:
                check(False, "attention %s: batch %d, query %d, head %d" % (name, b, i, h))
                return
    outcome = run("attention", "--q", folder + "/q.npy", "--k", folder + "/k.npy", "--v", folder + "/v.npy",
                  "--output", folder + "/o2.npy", "--lengths", "4,10")
    check(outcome.returncode == 1 and "--lengths: 10, allowed: 0 to 9" in outcome.stderr,
          "attention with too long a length: " + outcome.stderr)
    save(folder + "/keep.npy", (queries + 1, keys), [True] * (queries + 1) * keys, "|b1")
    outcome = run("attention", "--q", folder + "/q.npy", "--k", folder + "/k.npy", "--v", folder + "/v.npy",
                  "--output", folder + "/o2.npy", "--mask", folder + "/keep.npy")
    check(outcome.returncode == 1 and "keep.npy: a mask of shape (6, 9) does not broadcast to batch, head, query, "
          "key: (2, 4, 5, 9)" in outcome.stderr, "attention with too large a mask: " + outcome.stderr)


def test_errors(folder):
    def refused(code, expected, *arguments):
        output = folder + "/untouched.npy"
        save(output, (1,), [42.0])
        outcome = run(*[output if a == "OUT" else a for a in arguments])
        check(outcome.returncode == code and expected in outcome.stderr + outcome.stdout,
              "%s: exit code %d, said %r" % (arguments, outcome.returncode, outcome.stderr))
        check(load(output)[2] == (42.0,), "%s: the output was touched" % (arguments,))

    good = folder + "/good.npy"
    save(good, (2, 3), [1.0] * 6)
    softmax_of = lambda path: ("softmax", "--input", path, "--output", "OUT")
    refused(1, "cannot be opened", *softmax_of(folder + "/absent.npy"))
    for name, content, expected in (
            ("empty", b"", "not a .npy file"), ("text", b"hello world", "not a .npy file"),
            ("short", header((2, 3), "<f4")[:40], "truncated"),
            ("data", header((2, 3), "<f4") + b"123", "3 bytes of data"),
            ("huge", header((2**62, 2**62), "<f4"), "too large"),
            ("fortran", header((2, 3), "<f4", "True") + bytes(24), "Fortran order"),
            ("big_endian", header((2, 3), ">f4") + bytes(24), "not supported"),
            ("complex", header((2, 3), "<c8") + bytes(48), "not supported")):
        with open("%s/%s.npy" % (folder, name), "wb") as file:
            file.write(content)
        refused(1, expected, *softmax_of("%s/%s.npy" % (folder, name)))
    save(folder + "/mask.npy", (4, 3), [True] * 12, "|b1")
    refused(1, "does not broadcast", *softmax_of(good), "--mask", folder + "/mask.npy")
    refused(1, "scale", *softmax_of(good), "--scale", "inf")
    refused(2, "--dtype", *softmax_of(good), "--dtype", "fp8")
    refused(2, "--output", "softmax", "--input", good)
    refused(2, "--nonsense; allowed: --help, --input, --output, --dtype, --scale, --log, --mask, --causal",
            *softmax_of(good), "--nonsense")
    reduce_of = ("reduce", "--input", good, "--output", "OUT", "--op")
    refused(2, "--op", *reduce_of, "median")
    refused(1, "--axis 2", *reduce_of, "sum", "--axis", "2")
    refused(1, "--dtype allows", *reduce_of, "sum", "--dtype", "int32")
    save(folder + "/large.npy", (1,), [2**40], "<i8")
    refused(1, "large.npy: element 0 = 1099511627776 does not fit in int32", "reduce", "--input", folder + "/large.npy", "--output", "OUT",
            "--op", "sum", "--dtype", "int32")
    refused(1, "cannot be written", "softmax", "--input", good, "--output", folder + "/no/y.npy")


def test_files(folder):
    """Where results go: what a path names is kept what it is, and what lies beside is left alone."""
    good, target, link, pipe = (folder + "/" + name for name in ("in.npy", "target.npy", "link.npy", "pipe.npy"))
    save(good, (2, 3), [1.0] * 6)
    softmax_to = lambda path: run("softmax", "--input", good, "--output", path)
    for name in ("target.npy.part", "target.npy.part0"):
        with open(folder + "/" + name, "w") as file:
            file.write("mine")
    os.symlink("target.npy", link)
    for state in ("dangling", "present"):  # the second time the file is there
        outcome = softmax_to(link)
        check(outcome.returncode == 0 and os.path.islink(link) and load(target)[0] == (2, 3),
              "%s link: %s" % (state, outcome.stderr))
        os.chmod(target, 0o640)
    check(os.stat(target).st_mode & 0o777 == 0o640, "permissions of an existing file")
    for name in ("target.npy.part", "target.npy.part0"):
        check(open(folder + "/" + name).read() == "mine", name + " was touched")
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        outcome = softmax_to(pipe)
        if not stat.S_ISFIFO(os.stat(pipe).st_mode):
            reader.kill()
        check(outcome.returncode == 0 and reader.stdout.read() == open(target, "rb").read(),
              "pipe: " + outcome.stderr)
    check(stat.S_ISFIFO(os.stat(pipe).st_mode), "the pipe was replaced")
    outcome = softmax_to(folder)
    check(outcome.returncode == 1 and "it is a folder" in outcome.stderr, "folder: " + outcome.stderr)
    check(not [name for name in os.listdir(folder) if ".part" in name and not name.startswith("target.npy.part")],
          "something was left behind")

    both = folder + "/both.npy"
    os.symlink(both, folder + "/alias.npy")
    for results, names in ((("attention", "--q", good, "--k", good, "--v", good, "--output", both, "--lse", both),
                            ("--output", "--lse")),
                           (("rms_norm", "--input", good, "--residual", good, "--output", both, "--sum",
                             folder + "/alias.npy"), ("--output", "--sum")),
                           (("layer_norm", "--input", good, "--quantise", "int8", "--output", folder + "/./both.npy",
                             "--scales", both), ("--output", "--scales"))):
        outcome = run(*results)
        check(outcome.returncode == 2 and "are one file" in outcome.stderr and not os.path.exists(both)
              and all(name in outcome.stderr for name in names), "%s: %s" % (results, outcome.stderr))
    for word in ("nosuch", "--nosuch"):
        outcome = run(word)
        check(outcome.returncode == 2 and "'%s'" % word in outcome.stderr and "softmax, " in outcome.stderr,
              "%s: %s" % (word, outcome.stderr))


def fp32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def normalised(row, weight, bias, layer):
    """Values of one row with the default epsilon."""
    mean = math.fsum(row) / len(row) if layer else 0.0
    factor = 1 / math.sqrt(math.fsum((x - mean) ** 2 for x in row) / len(row) + 1e-5)
    return [(x - mean) * factor * w + b for x, w, b in zip(row, weight, bias)]


def test_norms(folder):
    source = random.Random(4)
    shape, columns, rows = (2, 7, 70), 70, 14
    x = [fp32(source.gauss(1, 2)) for _ in range(rows * columns)]
    residual = [fp32(source.gauss(0, 1)) for _ in range(rows * columns)]
    weight = [fp32(source.gauss(1, 0.5)) for _ in range(columns)]
    bias = [fp32(source.gauss(0, 0.5)) for _ in range(columns)]
    save(folder + "/x.npy", shape, x)
    save(folder + "/r.npy", shape, residual)
    save(folder + "/w.npy", (columns,), weight)
    save(folder + "/b.npy", (columns,), bias)
    ones, zeros = [1.0] * columns, [0.0] * columns
    # relative error of 8-bit numbers, half of the smallest, the largest
    eight_bits = {"fp8": (2.0**-4, 2.0**-11, 240), "int8": (0, 0.5, 127)}
    for kind, dtype, form in itertools.product(("rms_norm", "layer_norm"), DTYPES,
                                               ("bare", "parameters", "residual", "fp8", "int8", "residual fp8")):
        name = "%s %s %s" % (kind, dtype, form)
        bits = form.split()[-1]
        layer, bare = kind == "layer_norm", form == "bare"
        arguments = [kind, "--input", folder + "/x.npy", "--output", folder + "/y.npy", "--dtype", dtype]
        if not bare:
            arguments += ["--weight", folder + "/w.npy"]
            arguments += ["--bias", folder + "/b.npy"] if layer else []
        if "residual" in form:
            arguments += ["--residual", folder + "/r.npy", "--sum", folder + "/s.npy"]
        if bits in eight_bits:
            arguments += ["--quantise", bits, "--scales", folder + "/scales.npy"]
        outcome = run(*arguments)
        check(outcome.returncode == 0, name + ": " + outcome.stderr)
        if outcome.returncode != 0:
            continue
        got_shape, descr, y = load(folder + "/y.npy")
        check(got_shape == shape and descr == "<f4", name + ": shape or type")
        round_input, unit = DTYPES[dtype]
        h = [round_input(value) for value in x]
        if "residual" in form:
            h = [round_input(fp32(a + round_input(b))) for a, b in zip(h, residual)]
            check(list(load(folder + "/s.npy")[2]) == h, name + ": the sum")
        scales = load(folder + "/scales.npy")[2] if bits in eight_bits else [1.0] * rows
        for r in range(rows):
            values = normalised(h[r * columns:(r + 1) * columns], ones if bare else weight,
                                bias if layer and not bare else zeros, layer)
            smallest = 0
            if bits in eight_bits:
                unit, half, most = eight_bits[bits]
                smallest = half * scales[r]
                check(abs(scales[r] * most - max(map(abs, values))) <= 2.0**-18 * scales[r] * most,
                      "%s: scale of row %d" % (name, r))
            for want, have in zip(values, y[r * columns:(r + 1) * columns]):
                # fp32 on the way: sums of 70 numbers of a size of 3
                if abs(want - scales[r] * have) > (unit + 2.0**-18) * abs(want) + 2.0**-18 + smallest:
                    check(False, "%s: row %d: %g instead of %g" % (name, r, scales[r] * have, want))
                    return
    outcome = run("rms_norm", "--input", folder + "/x.npy", "--output", folder + "/y.npy",
                  "--weight", folder + "/x.npy")
    check(outcome.returncode == 1 and "a weight of shape" in outcome.stderr, "wrong weight: " + outcome.stderr)
    outcome = run("rms_norm", "--input", folder + "/x.npy", "--output", folder + "/y.npy", "--epsilon", "-1")
    check(outcome.returncode == 1 and "epsilon: it is -1, allowed: finite numbers >= 0" in outcome.stderr, outcome.stderr)
    outcome = run("rms_norm", "--input", folder + "/x.npy", "--output", folder + "/y.npy", "--quantise", "fp8")
    check(outcome.returncode == 2 and "--scales" in outcome.stderr, "no scales: " + outcome.stderr)


def test_matmul_errors(folder):
    def refused(code, expected, *arguments):
        output = folder + "/untouched.npy"
        save(output, (1,), [42.0])
        outcome = run("matmul", *[output if a == "OUT" else a for a in arguments])
        check(outcome.returncode == code and expected in outcome.stderr + outcome.stdout,
              "%s: exit code %d, said %r" % (arguments, outcome.returncode, outcome.stderr))
        check(load(output)[2] == (42.0,), "%s: the output was touched" % (arguments,))

    save(folder + "/a.npy", (2, 3), [1.0] * 6)
    save(folder + "/b.npy", (4, 5), [1.0] * 20)
    save(folder + "/stack.npy", (2, 3, 4), [1.0] * 24)
    a, b, stack = folder + "/a.npy", folder + "/b.npy", folder + "/stack.npy"
    # extents are named by the axes of the files, whatever views become of them
    refused(1, "b.npy: an array of shape (4, 5), and axis 0 of --b is 4, allowed: 3, the columns of --a",
            "--a", a, "--b", b, "--output", "OUT")
    refused(1, "axis 1 of --b is 5, allowed: 2, the rows of --a", "--a", a, "--b", b, "--transa", "--transb",
            "--output", "OUT")
    refused(1, "axis 0 of --b is 4, allowed: 3, the columns of --a", "--a", a, "--b", b, "--batch", "--output", "OUT")
    refused(1, "axis 1 of --b is 3, allowed: 4, the columns of --a", "--a", stack, "--b", stack, "--batch",
            "--output", "OUT")
    save(folder + "/three.npy", (3, 4, 2), [1.0] * 24)
    save(folder + "/square.npy", (2, 2), [1.0] * 4)
    save(folder + "/squares.npy", (3, 2, 2), [1.0] * 12)
    refused(1, "axis 0 of --b is 3, allowed: 2, the matrices of --a", "--a", stack, "--b", folder + "/three.npy",
            "--batch", "--output", "OUT")
    scaled = ("--a", a, "--b", a, "--transb", "--output", "OUT", "--beta", "1", "--c")
    refused(1, "a.npy: an array of shape (2, 3), and axis 1 of --c is 3, allowed: 2, the columns of the result",
            *scaled, a)
    refused(1, "axis 0 of --c is 4, allowed: 2, the rows of the result", *scaled, b)
    refused(1, "axis 0 of --c is 3, allowed: 1, the matrices of the result", *scaled, folder + "/squares.npy", "--batch")
    # integers: which file has none, which does not fit
    refused(1, "a.npy: elements of float32, where int8 is asked for; allowed: int8, int32, int64, uint8, bool",
            "--a", a, "--b", a, "--transb", "--output", "OUT", "--dtype", "int8")
    save(folder + "/large.npy", (2, 3), [1, 2, 3, 300, 4, 5], "<i4")
    save(folder + "/small.npy", (2, 3), [1, 2, 3, -128, 127, 5], "|i1")
    refused(1, "large.npy: element 3 = 300 does not fit in int8, allowed: -128 to 127", "--a", folder + "/small.npy",
            "--b", folder + "/large.npy", "--transb", "--output", "OUT", "--dtype", "int8")
    refused(1, "square.npy: elements of float32, where int32 is asked for", "--a", folder + "/small.npy", "--b",
            folder + "/small.npy", "--transb", "--output", "OUT", "--dtype", "int8", "--beta", "1", "--c",
            folder + "/square.npy")
    refused(1, "expected a matrix", "--a", a, "--b", stack, "--output", "OUT")
    refused(1, "a bias of shape", "--a", a, "--b", a, "--transb", "--output", "OUT", "--bias", b)
    refused(1, "--activation", "--a", a, "--b", a, "--transb", "--output", "OUT", "--dtype", "fp64",
            "--activation", "silu")
    refused(1, "beta", "--a", a, "--b", a, "--transb", "--output", "OUT", "--beta", "1")
    refused(2, "--b", "--a", a, "--output", "OUT")
    refused(2, "--dtype", "--a", a, "--b", a, "--output", "OUT", "--dtype", "fp4")


def test_empty(folder):
    save(folder + "/x.npy", (0, 5), [])
    outcome = run("softmax", "--input", folder + "/x.npy", "--output", folder + "/y.npy")
    check(outcome.returncode == 0 and load(folder + "/y.npy")[0] == (0, 5),
          "empty softmax: " + outcome.stderr)
    outcome = run("reduce", "--input", folder + "/x.npy", "--output", folder + "/y.npy", "--op", "sum",
                  "--axis", "0")
    check(outcome.returncode == 0 and load(folder + "/y.npy")[2] == (0.0,) * 5,
          "sum of nothing: " + outcome.stderr)


with tempfile.TemporaryDirectory() as where:
    for test in (test_softmax, test_reduce, test_norms, test_matmul, test_attention, test_matmul_errors, test_errors,
                 test_files, test_empty):
        before = len(failures)
        test(where)
        print("%-14s %s" % (test.__name__, "ok" if len(failures) == before else "FAILED"))
sys.exit(1 if failures else 0)
