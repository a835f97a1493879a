create index vehicles_by_model on vehicles (model);
