package assay.bridge;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Date;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.LocalDate;

/** Values that go into statements. */
final class Parameters {
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final int NANOS_PER_MICRO = 1_000;

    private Parameters() {}

    /** The values of one statement; in the form of rows' values. */
    static Object[] read(Wire wire) {
        Object[] values = new Object[wire.readInt()];
        for (int index = 0; index < values.length; index++) {
            values[index] = one(wire, wire.readByte());
        }
        return values;
    }

    private static Object one(Wire wire, int kind) {
        return switch (kind) {
            case Values.NULL -> null;
            case Values.BOOLEAN -> wire.readByte() != 0;
            case Values.LONG -> wire.readLong();
            case Values.DOUBLE -> Double.longBitsToDouble(wire.readLong());
            case Values.DECIMAL -> decimal(wire.readInt(), wire.readLong(), wire.readLong());
            case Values.DATE -> date(wire.readInt());
            case Values.TIMESTAMP -> timestamp(wire.readLong());
            case Values.TEXT -> wire.readText();
            case Values.BYTES -> wire.readBytes();
            case Values.DIGITS -> new BigDecimal(wire.readText());
            default -> throw new IllegalArgumentException("a value of an unknown kind: " + kind);
        };
    }

    /** `(high * 2^64 + low) * 10^-scale`, where `low` is without a sign. */
    static BigDecimal decimal(int scale, long high, long low) {
        if (high == low >> Long.SIZE - 1) {
            return BigDecimal.valueOf(low, scale);
        }
        BigInteger lower = new BigInteger(Long.toUnsignedString(low));
        return new BigDecimal(BigInteger.valueOf(high).shiftLeft(Long.SIZE).add(lower), scale);
    }

    static Date date(int day) {
        return Date.valueOf(LocalDate.ofEpochDay(day));
    }

    static Timestamp timestamp(long micros) {
        long nanos = Math.floorMod(micros, MICROS_PER_SECOND) * NANOS_PER_MICRO;
        return Timestamp.from(
                Instant.ofEpochSecond(Math.floorDiv(micros, MICROS_PER_SECOND), nanos));
    }

    static void bind(PreparedStatement statement, Object[] values) throws SQLException {
        ParameterMetaData described = null;
        for (int index = 0; index < values.length; index++) {
            if (values[index] instanceof String && described == null) {
                described = described(statement);
            }
            bind(statement, index + 1, values[index], described);
        }
    }

    private static void bind(
            PreparedStatement statement, int place, Object value, ParameterMetaData described)
            throws SQLException {
        if (value instanceof Long whole) {
            statement.setLong(place, whole);
        } else if (value instanceof String text) {
            bindText(statement, place, text, typeOf(described, place));
        } else if (value == null) {
            statement.setNull(place, Types.VARCHAR);
        } else {
            statement.setObject(place, value);
        }
    }

    /** A text is bound as what its place is of: some databases compare no text with a date. */
    private static void bindText(PreparedStatement statement, int place, String text, int type)
            throws SQLException {
        try {
            switch (type) {
                case Types.DATE -> statement.setDate(place, Date.valueOf(text.strip()));
                case Types.TIMESTAMP -> statement.setTimestamp(place, Timestamp.valueOf(text.strip()));
                case Types.DECIMAL, Types.NUMERIC ->
                    statement.setBigDecimal(place, new BigDecimal(text.strip()));
                case Types.TINYINT, Types.SMALLINT, Types.INTEGER, Types.BIGINT ->
                    statement.setLong(place, Long.parseLong(text.strip()));
                case Types.REAL, Types.FLOAT, Types.DOUBLE ->
                    statement.setDouble(place, Double.parseDouble(text.strip()));
                default -> statement.setString(place, text);
            }
        } catch (IllegalArgumentException error) {
            throw new SQLException(
                    "value " + place + " is no " + java.sql.JDBCType.valueOf(type), "22018", error);
        }
    }

    /** What the places are of; null where the driver does not know. */
    private static ParameterMetaData described(PreparedStatement statement) {
        try {
            return statement.getParameterMetaData();
        } catch (SQLException | RuntimeException | AbstractMethodError error) {
            return null;
        }
    }

    private static int typeOf(ParameterMetaData described, int place) {
        try {
            return described == null ? Types.VARCHAR : described.getParameterType(place);
        } catch (SQLException | RuntimeException | AbstractMethodError error) {
            return Types.VARCHAR;
        }
    }
}
