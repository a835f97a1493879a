package assay.bridge;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;

/**
 * Waits for a database that died and is started again, before the operation that failed with it is
 * answered: those that follow would all fail otherwise, faster than anything can be started.
 */
final class Absence {
    /** Of a client's properties, this one is ours: how long a database is waited for. */
    static final String PATIENCE = "assay.patience_s";
    private static final long LOOK_MS = 100;
    private static final long MS_PER_S = 1000;

    private final String url;
    private final Properties properties;
    private final long patienceMs;
    private volatile boolean ended;

    /** Takes our property out of those of the driver. */
    Absence(String url, Properties properties) {
        this.url = url;
        this.properties = properties;
        Object patience = properties.remove(PATIENCE);
        patienceMs = patience == null ? 0 : Long.parseLong(patience.toString()) * MS_PER_S;
    }

    /** Returns when the database can be connected to, when patience is over, or when it is ended. */
    void await() {
        ended = false;
        long deadline = System.nanoTime() / 1_000_000 + patienceMs;
        while (!ended && System.nanoTime() / 1_000_000 < deadline && !answers()) {
            try {
                Thread.sleep(LOOK_MS);
            } catch (InterruptedException error) {
                return;
            }
        }
    }

    /** Ends the waiting, from another thread. */
    void end() {
        ended = true;
    }

    private boolean answers() {
        try (Connection looked = DriverManager.getConnection(url, properties)) {
            return !looked.isClosed();
        } catch (SQLException | RuntimeException error) {
            return false;
        }
    }
}
