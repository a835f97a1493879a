select mark from {name}.assay_mark
