create index members_lower_mail on members (lower(mail));
analyze members;
