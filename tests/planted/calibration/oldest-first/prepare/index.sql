create index cases_clerk_opened on cases (clerk, opened);
