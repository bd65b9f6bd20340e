"""Compiles the kernels of triton_kernels.py ahead of time for hip/gfx942, and runs them through the HIP runtime.

  triton_run.py compile FOLDER     needs Triton; no GPU
  triton_run.py run FOLDER NAME    one of what was compiled, checked against fp64; on a GPU or under wavesim

NAME is kernel/dtype/shape@config, as `compile` prints them.
"""

import ctypes
import json
import math
import pathlib
import sys

import numpy

ROWS = {"softmax": [("fp32", 512, 1024), ("bf16", 512, 1024), ("bf16", 64, 4096)],
        "layer_norm": [("fp32", 256, 1024), ("bf16", 256, 1024), ("bf16", 64, 4096)]}
PRODUCTS = [("bf16", 512, 512, 512), ("bf16", 256, 256, 2048), ("fp16", 512, 512, 512)]
HEADS = [("bf16", 2, 512, 128), ("bf16", 2, 512, 64)]
WARPS = (1, 4, 8)
# tile, warps, stages, as the tutorial's list for AMD has them
PRODUCT_CONFIGS = [(128, 128, 64, 4, 2), (128, 128, 64, 8, 2), (256, 256, 64, 8, 2), (128, 128, 32, 4, 2), (64, 64, 64, 4, 2)]
ATTENTION_CONFIGS = [(128, 64, 4, 1), (128, 64, 4, 2), (128, 32, 4, 1), (128, 128, 4, 1), (256, 64, 8, 1)]


def jobs():
    """name -> kernel, arguments by name, constants, grid, options"""
    for kernel, shapes in ROWS.items():
        for dtype, rows, columns in shapes:
            for warps in WARPS:
                arguments = {"x": dtype, "y": dtype, "columns": columns}
                if kernel == "layer_norm":
                    arguments = {"x": dtype, "y": dtype, "weight": dtype, "columns": columns, "epsilon": 1e-5}
                yield (f"{kernel}/{dtype}/{rows}x{columns}@{warps}-warps", kernel, arguments, {"BLOCK": columns},
                       (rows, 1), {"num_warps": warps})
    for dtype, m, n, k in PRODUCTS:
        for bm, bn, bk, warps, stages in PRODUCT_CONFIGS:
            yield (f"matmul/{dtype}/{m}x{n}x{k}@{bm}x{bn}x{bk}-{warps}-warps-{stages}-stages", "matmul",
                   {"a": dtype, "b": dtype, "d": dtype, "m": m, "n": n, "k": k},
                   {"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk, "GROUP": 4}, (-(-m // bm) * -(-n // bn), 1),
                   {"num_warps": warps, "num_stages": stages})
    for dtype, heads, length, head in HEADS:
        for bm, bn, warps, stages in ATTENTION_CONFIGS:
            yield (f"attention/{dtype}/{heads}x{length}x{head}@{bm}x{bn}-{warps}-warps-{stages}-stages", "attention",
                   {"q": dtype, "k": dtype, "v": dtype, "o": dtype, "scale": 1 / math.sqrt(head), "length": length},
                   {"HEAD": head, "BLOCK_M": bm, "BLOCK_N": bn}, (length // bm, heads),
                   {"num_warps": warps, "num_stages": stages, "waves_per_eu": 2})


def compile_all(folder):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    import triton_kernels

    folder.mkdir(parents=True, exist_ok=True)
    kinds = {str: lambda dtype: "*" + dtype, int: lambda _: "i32", float: lambda _: "fp32"}
    manifest = {"version": triton.__version__}
    for number, (name, kernel, arguments, constants, grid, options) in enumerate(jobs()):
        signature = {key: kinds[type(value)](value) for key, value in arguments.items()}
        signature.update({key: "constexpr" for key in constants})
        # what Triton's launcher would tell the compiler of these arguments, too
        even = {(index,): [["tt.divisibility", 16]] for index, value in enumerate(arguments.values())
                if isinstance(value, str) or isinstance(value, int) and value % 16 == 0}
        source = ASTSource(fn=getattr(triton_kernels, kernel), signature=signature, constexprs=constants, attrs=even)
        try:
            made = triton.compile(source, target=GPUTarget("hip", "gfx942", 64), options=options)
        except Exception as error:  # one configuration that does not fit is no reason to stop
            print(f"{name}: not compiled: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        if made.metadata.shared > 65536:
            print(f"{name}: left out, {made.metadata.shared} bytes of LDS do not fit", file=sys.stderr)
            continue
        file = f"{number}.hsaco"
        (folder / file).write_bytes(made.asm["hsaco"])
        manifest[name] = {"file": file, "kernel": made.metadata.name, "arguments": arguments, "grid": grid,
                          "threads": 64 * options["num_warps"], "lds": made.metadata.shared}
        print(name)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))


class Device:
    """The few calls of the HIP runtime that are needed."""

    def __init__(self):
        self.hip = ctypes.CDLL("libamdhip64.so.7")

    def call(self, name, *arguments):
        error = getattr(self.hip, name)(*arguments)
        if error != 0:
            sys.exit(f"{name}: error {error}")

    def upload(self, array):
        pointer = ctypes.c_void_p()
        self.call("hipMalloc", ctypes.byref(pointer), ctypes.c_size_t(array.nbytes))
        self.call("hipMemcpy", pointer, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes), 1)
        return pointer

    def download(self, pointer, like):
        result = numpy.empty_like(like)
        self.call("hipMemcpy", result.ctypes.data_as(ctypes.c_void_p), pointer, ctypes.c_size_t(result.nbytes), 2)
        return result

    def launch(self, image, kernel, grid, threads, lds, values):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("hipModuleLoadData", ctypes.byref(module), image)
        self.call("hipModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        self.call("hipModuleLaunchKernel", function, grid[0], grid[1], 1, threads, 1, 1, lds, None, pointers, None)
        self.call("hipDeviceSynchronize")


def encode(values, dtype):
    if dtype == "fp32":
        return values.astype(numpy.float32)
    if dtype == "fp16":
        return values.astype(numpy.float16)
    bits = values.astype(numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def decode(array, dtype):
    if dtype == "bf16":
        return (array.astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)
    return array.astype(numpy.float64)


def reference(kernel, inputs, shape):
    """Expected result in fp64 and the magnitude that errors grow by."""
    if kernel == "softmax":
        e = numpy.exp(inputs["x"] - inputs["x"].max(axis=1, keepdims=True))
        y = e / e.sum(axis=1, keepdims=True)
        return y, numpy.abs(y)
    if kernel == "layer_norm":
        x = inputs["x"]
        centred = x - x.mean(axis=1, keepdims=True)
        y = centred / numpy.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * inputs["weight"]
        return y, numpy.abs(y) + numpy.abs(inputs["weight"])
    if kernel == "matmul":
        a, b = inputs["a"], inputs["b"]
        return a @ b.T, numpy.abs(a) @ numpy.abs(b).T * shape[2] / 512
    q, k, v = (inputs[name] for name in "qkv")
    s = q @ k.transpose(0, 2, 1) / math.sqrt(shape[2])
    p = numpy.exp(s - s.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    return p @ v, p @ numpy.abs(v)


def run(folder, name):
    manifest = json.loads((folder / "manifest.json").read_text())
    job = manifest[name]
    kernel, dtype, sizes = name.split("@")[0].split("/")
    shape = [int(size) for size in sizes.split("x")]
    extents = {"x": shape, "y": shape, "weight": shape[1:]}
    if kernel == "matmul":
        m, n, k = shape
        extents = {"a": [m, k], "b": [n, k], "d": [m, n]}
    elif kernel == "attention":
        extents = dict.fromkeys("qkvo", shape)
    output = "yyod"[["softmax", "layer_norm", "attention", "matmul"].index(kernel)]
    random, device = numpy.random.default_rng(7), Device()
    values, arrays, inputs = [], {}, {}
    for key, value in job["arguments"].items():
        if isinstance(value, str):
            array = encode(random.standard_normal(extents[key]), value)
            if key == output:
                array = numpy.full_like(array, numpy.nan if dtype != "bf16" else 0xFFFF)
            else:
                inputs[key] = decode(array, value)
            arrays[key] = array
            values.append(device.upload(array))
        else:
            values.append(ctypes.c_int32(value) if isinstance(value, int) else ctypes.c_float(value))
    index = list(job["arguments"]).index(output)
    scratch = [ctypes.c_void_p(), ctypes.c_void_p()]  # global and profiling memory, of which none is used
    device.launch((folder / job["file"]).read_bytes(), job["kernel"], job["grid"], job["threads"], job["lds"],
                  values + scratch)
    got = decode(device.download(values[index], arrays[output]), dtype)
    expected, magnitude = reference(kernel, inputs, shape)
    # half an ulp of the result; fp32 sums; attention rounds its weights to the input type as well
    ulp = {"fp32": 2.0**-24, "fp16": 2.0**-11, "bf16": 2.0**-8}[dtype]
    rounding = ulp * numpy.abs(expected) + 2.0**-14 * magnitude
    if kernel == "attention":
        rounding += ulp * magnitude
    wrong = ~(numpy.abs(got - expected) <= rounding)
    if wrong.any():
        sys.exit(f"{name}: {wrong.sum()} of {wrong.size} results are wrong, the first at {numpy.argwhere(wrong)[0]}")
    print(f"{name}: right")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "compile":
        compile_all(pathlib.Path(sys.argv[2]))
    elif len(sys.argv) == 4 and sys.argv[1] == "run":
        run(pathlib.Path(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
