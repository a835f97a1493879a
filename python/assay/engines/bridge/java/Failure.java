package assay.bridge;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransactionRollbackException;
import java.util.regex.Pattern;

/** An error as it is told: SQLSTATE, the vendor's number, what may be done, words. */
final class Failure {
    private static final int LOST = 1;
    private static final int RETRYABLE = 2;
    private static final String OF_CONNECTION = "08";
    private static final String CONNECTION_LOST = "08006";
    /** Some drivers tell of a lost line with the SQLSTATE of a refused statement. */
    private static final Pattern LINK_LOST = Pattern.compile(
            "(?i)connection to the server lost|communications link failure");
    /** A cause may be its own cause's cause. */
    private static final int CAUSES_MAX = 5;

    private Failure() {}

    /** Tells an error; `lost` says that the connection to the database is gone. */
    static void put(Wire wire, Throwable error, boolean lost) throws java.io.IOException {
        String state = "";
        int code = 0;
        if (error instanceof SQLException told) {
            state = told.getSQLState() == null ? "" : told.getSQLState();
            code = told.getErrorCode();
        }
        if (lost && !state.startsWith(OF_CONNECTION)) {
            state = CONNECTION_LOST;
        }
        int flags = (lost ? LOST : 0) | (isRetryable(error, state) ? RETRYABLE : 0);
        wire.begin('E');
        wire.putText(state).putInt(code).put(flags).putText(words(error));
        wire.end();
    }

    /** Whether an error says that the connection is gone. */
    static boolean isOfConnection(SQLException error) {
        String state = error.getSQLState();
        return state != null && state.startsWith(OF_CONNECTION)
                || error.getMessage() != null && LINK_LOST.matcher(error.getMessage()).find()
                || error instanceof SQLNonTransientConnectionException
                || error instanceof SQLRecoverableException;
    }

    private static boolean isRetryable(Throwable error, String state) {
        return error instanceof SQLTransactionRollbackException || state.startsWith("40");
    }

    /** What was said; a driver's defect is named by its class, for its message alone says little. */
    private static String words(Throwable error) {
        StringBuilder words = new StringBuilder(said(error));
        Throwable cause = error.getCause();
        for (int depth = 0; cause != null && depth < CAUSES_MAX; depth++) {
            String more = said(cause);
            if (words.indexOf(more) < 0) {
                words.append(": ").append(more);
            }
            cause = cause.getCause();
        }
        return words.toString();
    }

    private static String said(Throwable error) {
        boolean plain = error instanceof SQLException && error.getMessage() != null;
        return plain ? error.getMessage() : error.toString();
    }
}
