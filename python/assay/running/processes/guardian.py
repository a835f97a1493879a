"""The program of the guardian, whose loop is in `guarding`.

It is executed by path with `python -I -S`: it must start fast, independent of the owner's modules
and environment. Of Assay it imports only `guarding` and three modules beside it, which import only
the standard library.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).absolute().parents[3]))
    from assay.running.processes.guarding import main

    sys.exit(main(sys.argv[1:]))
