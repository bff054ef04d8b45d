"""`python -m roughly.kernels`: compile all kernels into the cache, so that no run has to wait for it.

With names of modules, only those, and nothing is printed; with `--quickly` before them, they are loaded as `loading`
does it, to see whether that works.
"""

import sys

from roughly.kernels import compile_all, try_quickly, warm_up

if __name__ == "__main__":
    if sys.argv[1:2] == ["--quickly"]:
        try_quickly(sys.argv[2:])
    elif sys.argv[1:]:
        warm_up(sys.argv[1:])
    else:
        print(f"kernels ready in {compile_all():.1f} s")
