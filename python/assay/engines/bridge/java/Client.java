package assay.bridge;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import java.util.TreeSet;

/** One that connected: a thread, a line, and a connection of JDBC. */
final class Client implements Runnable {
    private static final String NO_DRIVER = "IM002";
    private static final String CANNOT_CONNECT = "08001";
    private static final int LOGIN_PATIENCE_S = 10;
    /** A property of ours among the driver's: whether the connection is to refuse writes. */
    private static final String READS_ONLY = "assay.readOnly";

    private final Bridge bridge;
    private final int number;
    private final Wire wire;
    private Connection connection;
    private volatile Statements statements;
    private volatile Absence absence;
    private Batches batches;

    Client(Bridge bridge, int number, Wire wire) {
        this.bridge = bridge;
        this.number = number;
        this.wire = wire;
    }

    @Override
    public void run() {
        try (wire) {
            for (int tag = wire.next(); tag >= 0; tag = wire.next()) {
                serve(tag);
                wire.flush();
            }
        } catch (IOException error) {
            // The peer is gone: nobody is left to be told.
        } finally {
            bridge.forget(number);
            close();
        }
    }

    private void serve(int tag) throws IOException {
        try {
            answer(tag);
        } catch (SQLException error) {
            Failure.put(wire, error, Failure.isOfConnection(error));
        } catch (RuntimeException | OutOfMemoryError | StackOverflowError | LinkageError error) {
            Failure.put(wire, error, false);
        }
        // Definitions are not answered: they fail where they are executed.
        if (tag != 'S') {
            wire.begin('Z');
            wire.end();
        }
    }

    private void answer(int tag) throws SQLException, IOException {
        switch (tag) {
            case 'H' -> hello();
            case 'K' -> cancel(wire.readInt());
            case 'S' -> statements().define(wire.readInt(), wire.readByte(), wire.readText());
            case 'X' -> {
                if (statements().execute()) {
                    absence.await();
                }
            }
            case 'L' -> batches = new Batches(wire, opened(), wire.readText(), wire.readInt());
            case 'B' -> batches.insert();
            default -> throw new IOException("a message of an unknown kind: " + tag);
        }
    }

    private void hello() throws SQLException, IOException {
        int protocol = wire.readInt();
        if (protocol != Bridge.PROTOCOL) {
            throw new IOException("protocol " + protocol + " is asked for");
        }
        String url = wire.readText();
        Properties properties = new Properties();
        for (int left = wire.readInt(); left > 0; left--) {
            properties.setProperty(wire.readText(), wire.readText());
        }
        boolean readsOnly = "true".equals(properties.remove(READS_ONLY));
        absence = new Absence(url, properties);
        checkDriver(url);
        DriverManager.setLoginTimeout(LOGIN_PATIENCE_S);
        connection = DriverManager.getConnection(url, properties);
        if (readsOnly) {
            forbidWriting();
        }
        statements = new Statements(wire, connection);
        DatabaseMetaData told = connection.getMetaData();
        // Some drivers ask the server only here, and it may refuse: no answer is begun before that.
        String[] facts = {
            told.getDatabaseProductName(), told.getDatabaseProductVersion(),
            told.getDriverName(), told.getDriverVersion(),
        };
        wire.begin('R');
        wire.putInt(number);
        for (String fact : facts) {
            wire.putText(fact);
        }
        wire.end();
    }

    private void forbidWriting() throws SQLException {
        try {
            connection.setReadOnly(true);
        } catch (SQLException error) {
            throw new SQLException("the driver has no connection that only reads, so --allow-writes is needed: "
                            + error.getMessage(),
                    error.getSQLState(), error);
        }
    }

    /** Tells a missing driver from a server that refuses: the drivers' own registry does not. */
    private static void checkDriver(String url) throws SQLException {
        TreeSet<String> known = new TreeSet<>();
        for (Driver driver : DriverManager.drivers().toList()) {
            if (driver.acceptsURL(url)) {
                return;
            }
            known.add(driver.getClass().getName());
        }
        throw new SQLException("no driver takes this URL: name the jar of the one that does with --driver; there are: "
                        + known,
                NO_DRIVER);
    }

    private void cancel(int other) throws SQLException {
        Client client = bridge.client(other);
        Statements asked = client == null ? null : client.statements;
        if (asked != null) {
            client.absence.end();
            asked.cancel();
        }
    }

    private Statements statements() throws SQLException {
        opened();
        return statements;
    }

    private Connection opened() throws SQLException {
        if (connection == null) {
            throw new SQLException("this line has no connection yet", CANNOT_CONNECT);
        }
        return connection;
    }

    private void close() {
        try {
            if (connection != null) {
                connection.close();
            }
        } catch (SQLException | RuntimeException error) {
            // It is as good as closed: the line of the database goes with this process.
            System.err.println("closing a connection: " + error.getClass().getName());
        }
    }
}
