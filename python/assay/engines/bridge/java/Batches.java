package assay.bridge;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Date;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.HashMap;
import java.util.Map;

/** Inserts rows that come as columns, many at once: one transaction a message. */
final class Batches {
    private static final int HAS_NULLS = 1;
    private static final int DECIMAL_BYTES = 16;
    /** Dates repeat; a table of very many different ones is not to fill the memory. */
    private static final int DATES_MAX = 100_000;

    /** A column as Arrow has it. `nulls` (a bit a row, 0 for an absent value) may be null. */
    private record Column(int kind, int scale, ByteBuffer nulls, ByteBuffer data, ByteBuffer texts) {
        boolean isNull(int row) {
            return nulls != null && (nulls.get(row >> 3) >> (row & 7) & 1) == 0;
        }
    }

    private final Wire wire;
    private final Connection connection;
    private final PreparedStatement statement;
    private final int atOnce;
    private final Map<Integer, Date> dates = new HashMap<>();

    Batches(Wire wire, Connection connection, String text, int atOnce) throws SQLException {
        this.wire = wire;
        this.connection = connection;
        this.atOnce = atOnce;
        statement = connection.prepareStatement(text);
    }

    /** Inserts the rows of a message; all of them or none. */
    void insert() throws SQLException, IOException {
        int rows = wire.readInt();
        Column[] columns = new Column[wire.readInt()];
        for (int place = 0; place < columns.length; place++) {
            columns[place] = column(rows);
        }
        connection.setAutoCommit(false);
        try {
            for (int row = 0; row < rows; row++) {
                for (int place = 0; place < columns.length; place++) {
                    set(place + 1, columns[place], row);
                }
                statement.addBatch();
                if ((row + 1) % atOnce == 0 || row + 1 == rows) {
                    statement.executeBatch();
                }
            }
            connection.commit();
        } catch (SQLException error) {
            connection.rollback();
            throw told(error);
        } finally {
            connection.setAutoCommit(true);
        }
        wire.begin('N');
        wire.putLong(rows);
        wire.end();
    }

    /** The error of a batch often stands behind one that only says which row it was. */
    private static SQLException told(SQLException error) {
        SQLException next = error.getNextException();
        return next == null ? error : next;
    }

    private Column column(int rows) {
        int kind = wire.readByte();
        int scale = wire.readInt();
        ByteBuffer nulls = wire.readByte() == HAS_NULLS ? wire.readColumn((rows + 7) / 8) : null;
        return switch (kind) {
            case Values.BOOLEAN -> new Column(kind, scale, nulls, wire.readColumn((rows + 7) / 8), null);
            case Values.DATE -> new Column(kind, scale, nulls, wire.readColumn(rows * Integer.BYTES), null);
            case Values.LONG, Values.DOUBLE, Values.TIMESTAMP ->
                new Column(kind, scale, nulls, wire.readColumn(rows * Long.BYTES), null);
            case Values.DECIMAL ->
                new Column(kind, scale, nulls, wire.readColumn(rows * DECIMAL_BYTES), null);
            case Values.TEXT, Values.BYTES -> {
                ByteBuffer places = wire.readColumn((rows + 1) * Integer.BYTES);
                yield new Column(kind, scale, nulls, places, wire.readColumn(wire.readInt()));
            }
            default -> throw new IllegalArgumentException("a column of an unknown kind: " + kind);
        };
    }

    private void set(int place, Column column, int row) throws SQLException {
        if (column.isNull(row)) {
            statement.setNull(place, typeOf(column.kind));
            return;
        }
        ByteBuffer data = column.data;
        switch (column.kind) {
            case Values.LONG -> statement.setLong(place, data.getLong(row * Long.BYTES));
            case Values.DOUBLE -> statement.setDouble(place, data.getDouble(row * Long.BYTES));
            case Values.DATE -> statement.setDate(place, date(data.getInt(row * Integer.BYTES)));
            case Values.TEXT -> statement.setString(
                    place, new String(bytes(column, row), StandardCharsets.UTF_8));
            case Values.DECIMAL -> statement.setBigDecimal(place, Parameters.decimal(column.scale,
                    data.getLong(row * DECIMAL_BYTES + Long.BYTES), data.getLong(row * DECIMAL_BYTES)));
            case Values.TIMESTAMP -> statement.setTimestamp(
                    place, Parameters.timestamp(data.getLong(row * Long.BYTES)));
            case Values.BOOLEAN ->
                statement.setBoolean(place, (data.get(row >> 3) >> (row & 7) & 1) != 0);
            default -> statement.setBytes(place, bytes(column, row));
        }
    }

    private static byte[] bytes(Column column, int row) {
        int begin = column.data.getInt(row * Integer.BYTES);
        byte[] bytes = new byte[column.data.getInt((row + 1) * Integer.BYTES) - begin];
        column.texts.get(begin, bytes);
        return bytes;
    }

    private Date date(int day) {
        if (dates.size() > DATES_MAX) {
            dates.clear();
        }
        return dates.computeIfAbsent(day, Parameters::date);
    }

    private static int typeOf(int kind) {
        return switch (kind) {
            case Values.BOOLEAN -> Types.BOOLEAN;
            case Values.LONG -> Types.BIGINT;
            case Values.DOUBLE -> Types.DOUBLE;
            case Values.DECIMAL -> Types.DECIMAL;
            case Values.DATE -> Types.DATE;
            case Values.TIMESTAMP -> Types.TIMESTAMP;
            case Values.BYTES -> Types.VARBINARY;
            default -> Types.VARCHAR;
        };
    }
}
