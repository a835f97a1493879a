package assay.bridge;

import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Executes the statements of one connection and sends their rows. */
final class Statements {
    private static final int KEPT = 1;
    private static final int AS_TEXT = 2;
    private static final int VALID_PATIENCE_S = 2;
    private static final Set<String> BEGINS = Set.of(
            "begin", "begin transaction", "begin work", "start transaction");
    private static final Set<String> COMMITS = Set.of(
            "commit", "commit transaction", "commit work", "end", "end transaction");
    private static final Set<String> ROLLBACKS = Set.of(
            "rollback", "rollback transaction", "rollback work");
    private static final Pattern COMMENT = Pattern.compile("--[^\n]*");
    /** Begins of SQLSTATEs of errors after which nobody doubts the connection. */
    private static final Set<String> ORDINARY = Set.of("22", "23", "40", "42", "57");

    private record Asked(String text, String command, boolean kept, boolean asText) {}

    private final Wire wire;
    private final Connection connection;
    private final Map<Integer, Asked> asked = new HashMap<>();
    private final Map<Integer, PreparedStatement> prepared = new HashMap<>();
    private volatile Statement running;
    private Boolean several;

    Statements(Wire wire, Connection connection) {
        this.wire = wire;
        this.connection = connection;
    }

    /** Notes a statement under a number; flags say whether it stays prepared, and how it is told. */
    void define(int number, int flags, String text) throws SQLException {
        PreparedStatement before = prepared.remove(number);
        if (before != null) {
            before.close();
        }
        String said = COMMENT.matcher(text).replaceAll(" ").strip();
        String command = said.replaceFirst(";$", "").strip().toLowerCase(Locale.ROOT);
        asked.put(number, new Asked(text, command, (flags & KEPT) != 0, (flags & AS_TEXT) != 0));
    }

    /**
     * Executes statements one after another; a transaction that they leave open is rolled back.
     * Returns whether the connection was lost, which was told then.
     */
    boolean execute() throws SQLException, IOException {
        try {
            for (int left = wire.readInt(); left > 0; left--) {
                int number = wire.readInt();
                one(number, asked.get(number));
            }
        } catch (SQLException error) {
            abandon();
            boolean lost = isLost(error);
            Failure.put(wire, error, lost);
            return lost;
        } catch (RuntimeException error) {
            abandon();
            throw error;
        }
        if (!connection.getAutoCommit()) {
            abandon();
            throw new SQLException(
                    "the operation left its transaction open: end it with commit", "25000");
        }
        return false;
    }

    /** Ends what is executed now, from another thread. */
    void cancel() throws SQLException {
        Statement statement = running;
        if (statement != null) {
            statement.cancel();
        }
    }

    private void one(int number, Asked statement) throws SQLException, IOException {
        Object[] values = Parameters.read(wire);
        if (BEGINS.contains(statement.command)) {
            connection.setAutoCommit(false);
        } else if (COMMITS.contains(statement.command)) {
            connection.commit();
            connection.setAutoCommit(true);
        } else if (ROLLBACKS.contains(statement.command)) {
            connection.rollback();
            connection.setAutoCommit(true);
        } else if (statement.kept) {
            bound(preparedAs(number, statement.text), values, statement.asText);
            return;
        } else {
            once(statement, values);
            return;
        }
        tellCount(0);
    }

    private PreparedStatement preparedAs(int number, String text) throws SQLException {
        PreparedStatement statement = prepared.get(number);
        if (statement == null) {
            statement = connection.prepareStatement(text);
            prepared.put(number, statement);
        }
        return statement;
    }

    private void once(Asked told, Object[] values) throws SQLException, IOException {
        if (values.length > 0) {
            try (PreparedStatement statement = connection.prepareStatement(told.text)) {
                bound(statement, values, told.asText);
            }
            return;
        }
        try (Statement statement = connection.createStatement()) {
            running = statement;
            results(statement, statement.execute(told.text), told.asText);
        } finally {
            running = null;
        }
    }

    private void bound(PreparedStatement statement, Object[] values, boolean asText)
            throws SQLException, IOException {
        Parameters.bind(statement, values);
        running = statement;
        try {
            results(statement, statement.execute(), asText);
        } finally {
            running = null;
        }
    }

    private void results(Statement statement, boolean first, boolean asText)
            throws SQLException, IOException {
        boolean hasRows = first;
        int count = hasRows ? -1 : statement.getUpdateCount();
        while (hasRows || count >= 0) {
            if (hasRows) {
                try (ResultSet rows = statement.getResultSet()) {
                    if (rows.getMetaData().getColumnCount() == 0) {
                        // A procedure without rows; some drivers fail when they are asked for more.
                        tellCount(0);
                        return;
                    }
                    tell(rows, asText);
                }
            } else {
                tellCount(count);
            }
            if (!several()) {
                // Hive's driver forgets its statement when rows are closed, and fails when asked for more.
                return;
            }
            hasRows = statement.getMoreResults();
            count = hasRows ? -1 : statement.getUpdateCount();
        }
    }

    /** Whether the driver knows of statements with more results than one. */
    private boolean several() throws SQLException {
        if (several == null) {
            several = connection.getMetaData().supportsMultipleResultSets();
        }
        return several;
    }

    private void tellCount(int count) throws IOException {
        wire.begin('N');
        wire.putLong(count);
        wire.end();
    }

    private void tell(ResultSet rows, boolean asText) throws SQLException, IOException {
        ResultSetMetaData described = rows.getMetaData();
        int[] types = Values.types(described);
        describe(described, types);
        while (rows.next()) {
            wire.begin('D');
            try {
                for (int column = 0; column < types.length; column++) {
                    if (asText) {
                        Values.putText(wire, rows.getString(column + 1));
                    } else {
                        Values.put(wire, rows, column + 1, types[column]);
                    }
                }
            } catch (SQLException | RuntimeException | Error error) {
                wire.drop();
                throw error;
            }
            wire.end();
        }
    }

    private void describe(ResultSetMetaData described, int[] types)
            throws SQLException, IOException {
        wire.begin('T');
        wire.putInt(types.length);
        for (int column = 1; column <= types.length; column++) {
            wire.putText(described.getColumnLabel(column)).putInt(types[column - 1]);
        }
        wire.end();
    }

    /** Rolls back what a failed operation began; what fails here is known by the next one. */
    private void abandon() {
        try {
            if (!connection.getAutoCommit()) {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        } catch (SQLException | RuntimeException error) {
            System.err.println("rolling back: " + error.getClass().getName());
        }
    }

    private boolean isLost(SQLException error) {
        if (Failure.isOfConnection(error)) {
            return true;
        }
        String state = error.getSQLState() == null ? "" : error.getSQLState();
        if (state.length() > 1 && ORDINARY.contains(state.substring(0, 2))) {
            return isClosed();
        }
        if (isClosed()) {
            return true;
        }
        try {
            return !connection.isValid(VALID_PATIENCE_S);
        } catch (SQLException | RuntimeException | AbstractMethodError doubt) {
            return false;
        }
    }

    private boolean isClosed() {
        try {
            return connection.isClosed();
        } catch (SQLException error) {
            return true;
        }
    }
}
