"""Runs a kernel that triton_compile.py or tilelang_compile.py made, on a GPU or under wavesim.

  run_kernel.py FOLDER NAME    a name of FOLDER/manifest.json; the result is checked against fp64
"""

import ctypes
import json
import math
import pathlib
import sys

import numpy


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
    if kernel.endswith("norm"):
        x = inputs["x"]
        centred = x - x.mean(axis=1, keepdims=True) if kernel == "layer_norm" else x
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
    jobs = manifest[name] if isinstance(manifest[name], list) else [manifest[name]]
    kernel, dtype, sizes = name.split("@")[0].split("/")
    shape = [int(size) for size in sizes.split("x")]
    extents = {"x": shape, "y": shape, "weight": shape[1:]}
    if kernel == "matmul":
        m, n, k = shape
        extents = {"a": [m, k], "b": [n, k], "d": [m, n]}
    elif kernel == "attention":
        extents = dict.fromkeys("qkvo", shape)
    output = {"attention": "o", "matmul": "d"}.get(kernel, "y")
    random, device = numpy.random.default_rng(7), Device()

    def array_for(key, value):
        kind, *parts = value.split()
        if parts:  # between two kernels
            return numpy.full((int(parts[0]), *extents[output]), numpy.nan, numpy.float32)
        array = encode(random.standard_normal(extents[key]), kind)
        if key == output:
            array = numpy.full_like(array, numpy.nan if kind != "bf16" else 0xFFFF)
        else:
            inputs[key] = decode(array, kind)
        arrays[key] = array
        return array

    arrays, pointers, inputs = {}, {}, {}
    for job in jobs:
        values = []
        for key, value in job["arguments"].items():
            if not isinstance(value, str):
                values.append(ctypes.c_int32(value) if isinstance(value, int) else ctypes.c_float(value))
                continue
            if key not in pointers:
                pointers[key] = device.upload(array_for(key, value))
            values.append(pointers[key])
        scratch = [ctypes.c_void_p(), ctypes.c_void_p()]  # global and profiling memory, of which none is used
        device.launch((folder / job["file"]).read_bytes(), job["kernel"], job["grid"], job["threads"], job["lds"],
                      values + scratch)
    got = decode(device.download(pointers[output], arrays[output]), dtype)
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


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    run(pathlib.Path(sys.argv[1]), sys.argv[2])
