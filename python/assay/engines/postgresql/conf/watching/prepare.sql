prepare assay_watched as
