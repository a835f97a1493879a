"""Colours, sizes and units that all charts share.

The palette is Okabe and Ito's, which people with colour blindness can tell apart.
"""

BLUE, SKY, GREEN = "#0072B2", "#56B4E9", "#009E73"
ORANGE, VERMILION, PURPLE, GREY = "#E69F00", "#D55E00", "#CC79A7", "#999999"

WIDTH = 680
BYTE_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
