"""`python -m roughly.kernels`: compile all kernels into the cache, so that no run has to wait for it."""

from roughly.kernels import compile_all

if __name__ == "__main__":
    print(f"kernels ready in {compile_all():.1f} s")
