set -v
