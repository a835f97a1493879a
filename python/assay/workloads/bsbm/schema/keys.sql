-- For row-store servers, after loading.

alter table producttype add constraint producttype_key primary key (nr);
alter table productfeature add constraint productfeature_key primary key (nr);
alter table producer add constraint producer_key primary key (nr);
alter table product add constraint product_key primary key (nr);
alter table producttypeproduct add constraint producttypeproduct_key primary key (product, productType);
alter table productfeatureproduct add constraint productfeatureproduct_key primary key (product, productFeature);
alter table vendor add constraint vendor_key primary key (nr);
alter table offer add constraint offer_key primary key (nr);
alter table person add constraint person_key primary key (nr);
alter table review add constraint review_key primary key (nr);
