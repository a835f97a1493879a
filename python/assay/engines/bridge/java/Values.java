package assay.bridge;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.Date;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLXML;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.regex.Pattern;

/**
 * Values of rows: a byte that says of which kind one is, then the value. A value is of the kind that
 * the driver hands it out as, because columns of some databases hold values of several kinds.
 */
final class Values {
    static final int NULL = 0;
    static final int BOOLEAN = 1;
    static final int LONG = 2;
    static final int DOUBLE = 3;
    static final int DECIMAL = 4;
    static final int DATE = 5;
    static final int TIMESTAMP = 6;
    static final int TEXT = 7;
    static final int BYTES = 8;
    /** A number with more digits than a decimal has here, as text. */
    static final int DIGITS = 9;

    static final int DECIMAL_DIGITS_MAX = 38;
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final int NANOS_PER_MICRO = 1_000;
    private static final int MILLIS_PER_SECOND = 1_000;
    /** Before this day Java's old dates are of another calendar than its new ones. */
    private static final long GREGORIAN_MILLIS = -12_219_292_800_000L;

    private static final Pattern FRACTION =
            Pattern.compile("real|floa|doub|deci|nume", Pattern.CASE_INSENSITIVE);

    private Values() {}

    /** Types by column, for `put`. */
    static int[] types(ResultSetMetaData described) throws SQLException {
        int[] types = new int[described.getColumnCount()];
        for (int column = 0; column < types.length; column++) {
            types[column] = type(described, column + 1);
        }
        return types;
    }

    /** The type as declared, where a driver tells the type of the first row's value instead. */
    private static int type(ResultSetMetaData described, int column) throws SQLException {
        int type = described.getColumnType(column);
        String name = described.getColumnTypeName(column);
        boolean whole = type == Types.INTEGER || type == Types.BIGINT;
        return whole && name != null && FRACTION.matcher(name).lookingAt() ? Types.DOUBLE : type;
    }

    /** Sends the value of a column, counted from 1. */
    static void put(Wire wire, ResultSet rows, int column, int type)
            throws SQLException, IOException {
        switch (type) {
            case Types.CLOB, Types.NCLOB, Types.LONGVARCHAR, Types.LONGNVARCHAR ->
                putLarge(wire, rows, column);
            default -> putObject(wire, rows, column, type, rows.getObject(column));
        }
    }

    static void putText(Wire wire, String text) {
        if (text == null) {
            wire.put(NULL);
        } else {
            wire.put(TEXT).putText(text);
        }
    }

    private static void putLarge(Wire wire, ResultSet rows, int column)
            throws SQLException, IOException {
        Object told = rows.getObject(column);
        putText(wire, told instanceof Clob text ? all(text) : rows.getString(column));
    }

    private static void putObject(Wire wire, ResultSet rows, int column, int type, Object value)
            throws SQLException, IOException {
        if (value == null) {
            wire.put(NULL);
        } else if (value instanceof String text) {
            wire.put(TEXT).putText(text);
        } else if (value instanceof Number number) {
            putNumber(wire, number, type);
        } else if (value instanceof Boolean truth) {
            wire.put(BOOLEAN).put(truth ? 1 : 0);
        } else if (value instanceof byte[] bytes) {
            wire.put(BYTES).putBytes(bytes);
        } else if (!putTime(wire, value)) {
            putRare(wire, rows, column, type, value);
        }
    }

    private static void putNumber(Wire wire, Number number, int type) {
        boolean whole = number instanceof Integer || number instanceof Long;
        if (number instanceof Double || number instanceof Float || whole && type == Types.DOUBLE) {
            wire.put(DOUBLE).putLong(Double.doubleToRawLongBits(number.doubleValue()));
        } else if (number instanceof BigDecimal decimal) {
            putDecimal(wire, decimal);
        } else if (number instanceof BigInteger big) {
            putDecimal(wire, new BigDecimal(big));
        } else {
            wire.put(LONG).putLong(number.longValue());
        }
    }

    private static void putDecimal(Wire wire, BigDecimal told) {
        BigDecimal decimal = told.scale() < 0 ? told.setScale(0) : told;
        if (decimal.precision() > DECIMAL_DIGITS_MAX && decimal.scale() > 0) {
            BigDecimal shorter = decimal.stripTrailingZeros();
            decimal = shorter.scale() < 0 ? shorter.setScale(0) : shorter;
        }
        if (decimal.precision() > DECIMAL_DIGITS_MAX || decimal.scale() > DECIMAL_DIGITS_MAX) {
            wire.put(DIGITS).putText(told.toPlainString());
            return;
        }
        BigInteger unscaled = decimal.unscaledValue();
        long low = unscaled.longValue();
        // What fits 64 bits has its sign in the upper half.
        long high = unscaled.bitLength() < Long.SIZE ? low >> Long.SIZE - 1
                : unscaled.shiftRight(Long.SIZE).longValue();
        wire.put(DECIMAL).putInt(decimal.scale()).putLong(high).putLong(low);
    }

    private static boolean putTime(Wire wire, Object value) {
        if (value instanceof Timestamp time) {
            wire.put(TIMESTAMP).putLong(micros(time));
        } else if (value instanceof Date date) {
            wire.put(DATE).putInt((int) date.toLocalDate().toEpochDay());
        } else if (value instanceof LocalDate date) {
            wire.put(DATE).putInt((int) date.toEpochDay());
        } else if (value instanceof LocalDateTime time) {
            wire.put(TIMESTAMP).putLong(micros(time));
        } else if (value instanceof OffsetDateTime time) {
            wire.put(TIMESTAMP).putLong(micros(time.atZoneSameInstant(ZoneOffset.UTC).toLocalDateTime()));
        } else {
            return false;
        }
        return true;
    }

    /** The process's time zone is UTC, so a wall clock's time and a point in time are one. */
    private static long micros(Timestamp time) {
        if (time.getTime() < GREGORIAN_MILLIS) {
            return micros(time.toLocalDateTime());
        }
        long seconds = Math.floorDiv(time.getTime(), MILLIS_PER_SECOND);
        return seconds * MICROS_PER_SECOND + time.getNanos() / NANOS_PER_MICRO;
    }

    private static long micros(LocalDateTime time) {
        long seconds = time.toEpochSecond(ZoneOffset.UTC);
        return seconds * MICROS_PER_SECOND + time.getNano() / NANOS_PER_MICRO;
    }

    private static void putRare(Wire wire, ResultSet rows, int column, int type, Object value)
            throws SQLException, IOException {
        if (value instanceof Clob text) {
            putText(wire, all(text));
        } else if (value instanceof Blob bytes) {
            wire.put(BYTES).putBytes(bytes.getBytes(1, Math.toIntExact(bytes.length())));
        } else if (value instanceof SQLXML text) {
            putText(wire, text.getString());
        } else if (type == Types.TIMESTAMP || type == Types.TIMESTAMP_WITH_TIMEZONE) {
            putTime(wire, rows.getTimestamp(column));
        } else if (type == Types.DATE) {
            putTime(wire, rows.getDate(column));
        } else {
            putText(wire, rows.getString(column));
        }
    }

    private static String all(Clob text) throws SQLException {
        return text.getSubString(1, Math.toIntExact(text.length()));
    }
}
