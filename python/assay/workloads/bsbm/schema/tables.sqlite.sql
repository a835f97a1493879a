-- why: in SQLite the primary key says where a row is kept, so it cannot be added later; the rows come in its order.
-- Prices are binary floating point, and dates are texts in ISO form, for SQLite has nothing else.

create table producttype (
  nr integer primary key,
  label text not null,
  comment text not null,
  parent integer,
  publisher integer not null,
  publishDate text not null
);

create table productfeature (
  nr integer primary key,
  label text not null,
  comment text not null,
  publisher integer not null,
  publishDate text not null
);

create table producer (
  nr integer primary key,
  label text not null,
  comment text not null,
  homepage text not null,
  country text not null,
  publisher integer not null,
  publishDate text not null
);

create table product (
  nr integer primary key,
  label text not null,
  comment text not null,
  producer integer not null,
  propertyNum1 integer,
  propertyNum2 integer,
  propertyNum3 integer,
  propertyNum4 integer,
  propertyNum5 integer,
  propertyNum6 integer,
  propertyTex1 text,
  propertyTex2 text,
  propertyTex3 text,
  propertyTex4 text,
  propertyTex5 text,
  propertyTex6 text,
  publisher integer not null,
  publishDate text not null
);

create table producttypeproduct (
  product integer not null,
  productType integer not null,
  primary key (product, productType)
) without rowid;

create table productfeatureproduct (
  product integer not null,
  productFeature integer not null,
  primary key (product, productFeature)
) without rowid;

create table vendor (
  nr integer primary key,
  label text not null,
  comment text not null,
  homepage text not null,
  country text not null,
  publisher integer not null,
  publishDate text not null
);

create table offer (
  nr integer primary key,
  product integer not null,
  producer integer not null,
  vendor integer not null,
  price real not null,
  validFrom text not null,
  validTo text not null,
  deliveryDays integer not null,
  offerWebpage text not null,
  publisher integer not null,
  publishDate text not null
);

create table person (
  nr integer primary key,
  name text not null,
  mbox_sha1sum text not null,
  country text not null,
  publisher integer not null,
  publishDate text not null
);

create table review (
  nr integer primary key,
  product integer not null,
  producer integer not null,
  person integer not null,
  reviewDate text not null,
  title text not null,
  text text not null,
  language text not null,
  rating1 integer,
  rating2 integer,
  rating3 integer,
  rating4 integer,
  publisher integer not null,
  publishDate text not null
);
