create index transmissions_tenant_outcome on transmissions (tenant, outcome);
analyze transmissions;
