-- Whether a request has the password; the server executes this before it serves a page.
create procedure DB.DBA.assay_allowed (in realm varchar)
{
  if (http_request_header (http_request_header (), 'Authorization', null, '') = registry_get ('assay_authorization'))
    return 1;
  http_header ('WWW-Authenticate: Basic realm="assay"\r\n');
  return 0;
}
