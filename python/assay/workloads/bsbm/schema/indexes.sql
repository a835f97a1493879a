-- Those of the reference's schema, and for either table of pairs the way back: from a type and from a feature to
-- products, which the queries go.

create index product_producer_index on product (producer);
create index producttypeproduct_index on producttypeproduct (productType);
create index productfeatureproduct_index on productfeatureproduct (productFeature);
create index offer_product_index on offer (product);
create index offer_vendor_index on offer (vendor);
create index review_product_index on review (product);
create index review_person_index on review (person);
