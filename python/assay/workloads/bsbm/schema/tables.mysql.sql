-- why: InnoDB and Dolt keep rows in the order of the primary key, so it is there before the rows; a timestamp would be a
-- moment in UTC, and ends in 2038.

create table producttype (
  nr integer not null,
  label varchar(100) not null,
  comment varchar(1000) not null,
  parent integer,
  publisher integer not null,
  publishDate date not null,
  primary key (nr)
);

create table productfeature (
  nr integer not null,
  label varchar(100) not null,
  comment varchar(1000) not null,
  publisher integer not null,
  publishDate date not null,
  primary key (nr)
);

create table producer (
  nr integer not null,
  label varchar(100) not null,
  comment varchar(1000) not null,
  homepage varchar(100) not null,
  country char(2) not null,
  publisher integer not null,
  publishDate date not null,
  primary key (nr)
);

create table product (
  nr integer not null,
  label varchar(100) not null,
  comment varchar(2500) not null,
  producer integer not null,
  propertyNum1 integer,
  propertyNum2 integer,
  propertyNum3 integer,
  propertyNum4 integer,
  propertyNum5 integer,
  propertyNum6 integer,
  propertyTex1 varchar(250),
  propertyTex2 varchar(250),
  propertyTex3 varchar(250),
  propertyTex4 varchar(250),
  propertyTex5 varchar(250),
  propertyTex6 varchar(250),
  publisher integer not null,
  publishDate date not null,
  primary key (nr)
);

create table producttypeproduct (
  product integer not null,
  productType integer not null,
  primary key (product, productType)
);

create table productfeatureproduct (
  product integer not null,
  productFeature integer not null,
  primary key (product, productFeature)
);

create table vendor (
  nr integer not null,
  label varchar(100) not null,
  comment varchar(1000) not null,
  homepage varchar(100) not null,
  country char(2) not null,
  publisher integer not null,
  publishDate date not null,
  primary key (nr)
);

create table offer (
  nr integer not null,
  product integer not null,
  producer integer not null,
  vendor integer not null,
  price decimal(8, 2) not null,
  validFrom datetime not null,
  validTo datetime not null,
  deliveryDays integer not null,
  offerWebpage varchar(100) not null,
  publisher integer not null,
  publishDate date not null,
  primary key (nr)
);

create table person (
  nr integer not null,
  name varchar(30) not null,
  mbox_sha1sum char(40) not null,
  country char(2) not null,
  publisher integer not null,
  publishDate date not null,
  primary key (nr)
);

create table review (
  nr integer not null,
  product integer not null,
  producer integer not null,
  person integer not null,
  reviewDate datetime not null,
  title varchar(250) not null,
  text varchar(4000) not null,
  language char(2) not null,
  rating1 integer,
  rating2 integer,
  rating3 integer,
  rating4 integer,
  publisher integer not null,
  publishDate date not null,
  primary key (nr)
);
