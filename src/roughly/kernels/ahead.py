"""Ask for memory ahead of its use: what stands anywhere in a large array is at hand when the loop comes to it.

It changes the time and never the answer.
"""

from __future__ import annotations

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

DISTANCE = 8
"""How many steps ahead: about as many as take the time of one access to memory."""

_TO_READ, _KEEP, _DATA = 0, 3, 1


@intrinsic
def soon(context, array, place):  # type: ignore[no-untyped-def]
    """array[place] of a contiguous array will be read soon; for rows of a matrix, give the place of the first value."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        word, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, word, word, word])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        address = builder.bitcast(builder.gep(made.data, [arguments[1]]), pointer)
        builder.call(function, [address, word(_TO_READ), word(_KEEP), word(_DATA)])
        return context.get_dummy_value()

    return types.void(array, place), generate
