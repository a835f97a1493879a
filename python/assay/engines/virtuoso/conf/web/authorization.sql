registry_set ('assay_authorization', ?)
