package io.rdmashuffle.transport.wire;

import com.esotericsoftware.kryo.kryo5.KryoException;
import com.esotericsoftware.kryo.kryo5.io.Input;
import com.esotericsoftware.kryo.kryo5.io.Output;
import io.rdmashuffle.transport.wire.Reply.Answer;
import io.rdmashuffle.transport.wire.Reply.Granted;
import io.rdmashuffle.transport.wire.Reply.Inline;
import io.rdmashuffle.transport.wire.Reply.NotByRdma;
import io.rdmashuffle.transport.wire.Reply.Piece;
import java.util.ArrayList;
import java.util.List;

/**
 * The answers of one reply. Each address travels as the distance from the end of the piece before,
 * in this answer or an earlier one: neighbours in one window cost a byte. One thread at a time.
 */
final class AnswerCodec {
  /** A refusal: tag and reason. */
  static final int SHORTEST_BYTES = 2;

  private static final int WINDOW = 1;
  private static final int STAGED = 2;
  private static final int INLINE = 3;
  private static final int NOT_BY_RDMA = 4;
  private static final int SHORTEST_PIECE_BYTES = 1 + 4 + 1;

  private long previousEnd;

  /** Forgets the reply before. */
  void start() {
    previousEnd = 0;
  }

  void write(Output out, Answer answer) {
    if (answer instanceof Granted granted) {
      out.writeByte(granted.staged() ? STAGED : WINDOW);
      out.writeVarLong(granted.attribute(), true);
      writePieces(out, granted.pieces());
    } else if (answer instanceof Inline inline) {
      out.writeByte(INLINE);
      out.writeVarLong(inline.attribute(), true);
      Fields.writeCount(out, "inline bytes", WireLimits.INLINE_BYTES, inline.bytes().length);
      out.writeBytes(inline.bytes());
    } else if (answer instanceof NotByRdma not) {
      out.writeByte(NOT_BY_RDMA);
      out.writeByte(ReasonCodes.codeOf(not.reason()));
    }
  }

  Answer read(Input in) {
    int tag = in.readByteUnsigned();
    return switch (tag) {
      case WINDOW, STAGED -> new Granted(in.readVarLong(true), tag == STAGED, readPieces(in));
      case INLINE ->
          new Inline(
              in.readVarLong(true),
              in.readBytes(Fields.readCount(in, "inline bytes", WireLimits.INLINE_BYTES, 1)));
      case NOT_BY_RDMA -> new NotByRdma(ReasonCodes.reasonOf(in.readByteUnsigned()));
      default -> throw new KryoException("answer of kind " + tag);
    };
  }

  private void writePieces(Output out, List<Piece> pieces) {
    Fields.checkRange("pieces", pieces.size(), 1, WireLimits.PIECES_PER_BLOCK);
    out.writeVarInt(pieces.size(), true);
    for (int i = 0; i < pieces.size(); i++) {
      Piece piece = pieces.get(i);
      Fields.checkRange("piece bytes", piece.bytes(), 1, Integer.MAX_VALUE);
      out.writeVarLong(piece.address() - previousEnd, false);
      out.writeInt(piece.rkey());
      out.writeVarInt(piece.bytes(), true);
      previousEnd = piece.address() + piece.bytes();
    }
  }

  private List<Piece> readPieces(Input in) {
    int count = Fields.readCount(in, "pieces", WireLimits.PIECES_PER_BLOCK, SHORTEST_PIECE_BYTES);
    Fields.checkRange("pieces", count, 1, WireLimits.PIECES_PER_BLOCK);
    List<Piece> pieces = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      pieces.add(readPiece(in));
    }
    return pieces;
  }

  private Piece readPiece(Input in) {
    long address = previousEnd + in.readVarLong(false);
    int rkey = in.readInt();
    int bytes = in.readVarInt(true);
    Fields.checkRange("piece bytes", bytes, 1, Integer.MAX_VALUE);
    previousEnd = address + bytes;
    return new Piece(address, rkey, bytes);
  }
}
