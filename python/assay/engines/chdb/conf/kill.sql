-- Ends what one session executes, by the comment that all its queries have.
kill query where Settings['log_comment'] = '{session}' async
