replace into {name}.assay_mark values (1, {mark})
