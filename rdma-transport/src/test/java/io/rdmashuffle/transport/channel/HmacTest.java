package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class HmacTest {
  private static final byte[] SECRET = "the secret".getBytes(StandardCharsets.US_ASCII);

  /** RFC 2104 spelled out with nothing but the hash. */
  private static byte[] byTheBook(byte[] key, byte[] message) throws Exception {
    byte[] inner = new byte[64];
    byte[] outer = new byte[64];
    System.arraycopy(key, 0, inner, 0, key.length);
    System.arraycopy(key, 0, outer, 0, key.length);
    for (int i = 0; i < 64; i++) {
      inner[i] ^= 0x36;
      outer[i] ^= 0x5c;
    }
    MessageDigest sha = MessageDigest.getInstance("SHA-256");
    sha.update(inner);
    byte[] digest = sha.digest(message);
    sha.update(outer);
    return sha.digest(digest);
  }

  @Test
  void isHmacSha256OverLabelZeroAndParts() throws Exception {
    byte[] message = "label\0ab".getBytes(StandardCharsets.US_ASCII);
    Hmac hmac = new Hmac();
    for (int i = 0; i < 3; i++) { // the Mac is reused
      assertThat(hmac.compute(SECRET, "label", new byte[] {'a'}, new byte[] {'b'}))
          .isEqualTo(byTheBook(SECRET, message));
    }
  }

  @Test
  void leavesTheSecretAsItWas() {
    byte[] secret = SECRET.clone();
    new Hmac().compute(secret, "label");
    assertThat(secret).isEqualTo(SECRET);
  }

  @Test
  void refusesAnEmptySecret() {
    assertThatThrownBy(() -> new Hmac().compute(new byte[0], "label"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void bothSidesAgreeAndNeitherCodeServesTheOtherDirection() {
    MutualChallenge reader = new MutualChallenge(new Hmac(), 1, SECRET, Messages.nonce(1));
    MutualChallenge owner = new MutualChallenge(new Hmac(), 1, SECRET, Messages.nonce(2));
    Reply.Challenge challenge = owner.challenge(reader.hello());
    assertThat(reader.isAuthentic(challenge)).isTrue();
    Request.Prove proof = reader.prove();
    assertThat(owner.isAuthentic(proof)).isTrue();
    assertThat(owner.isAuthentic(new Request.Prove(challenge.mac()))).isFalse();
    assertThat(reader.isAuthentic(new Reply.Challenge(challenge.ownerNonce(), proof.mac())))
        .isFalse();
  }

  @Test
  void aProofIsBoundToNoncesAndCredential() {
    MutualChallenge reader = new MutualChallenge(new Hmac(), 1, SECRET, Messages.nonce(1));
    MutualChallenge owner = new MutualChallenge(new Hmac(), 1, SECRET, Messages.nonce(2));
    assertThat(reader.isAuthentic(owner.challenge(reader.hello()))).isTrue();
    Request.Prove proof = reader.prove();
    MutualChallenge later = new MutualChallenge(new Hmac(), 1, SECRET, Messages.nonce(3));
    later.challenge(reader.hello());
    assertThat(later.isAuthentic(proof)).isFalse();
    MutualChallenge other = new MutualChallenge(new Hmac(), 2, SECRET, Messages.nonce(2));
    other.challenge(reader.hello());
    assertThat(other.isAuthentic(proof)).isFalse();
  }

  @Test
  void nothingIsAuthenticAfterWiping() {
    MutualChallenge reader = new MutualChallenge(new Hmac(), 1, SECRET, Messages.nonce(1));
    MutualChallenge owner = new MutualChallenge(new Hmac(), 1, SECRET, Messages.nonce(2));
    Reply.Challenge challenge = owner.challenge(reader.hello());
    reader.wipe();
    assertThat(reader.isAuthentic(challenge)).isFalse();
  }

  @Test
  void aConnectRequestComesBackFromItsPaddedBytesAndEveryBitOfItCounts() {
    ConnectRequest request = ConnectRequest.create(new Hmac(), 9, SECRET, Messages.nonce(1));
    byte[] encoded = request.encode();
    assertThat(encoded.length).isLessThanOrEqualTo(56);
    ConnectRequest parsed = ConnectRequest.parse(Arrays.copyOf(encoded, 56));
    assertThat(parsed).usingRecursiveComparison().isEqualTo(request);
    assertThat(parsed.isAuthentic(new Hmac(), SECRET)).isTrue();
    for (int bit = 0; bit < encoded.length * 8; bit++) {
      byte[] changed = encoded.clone();
      changed[bit / 8] ^= (byte) (1 << bit % 8);
      ConnectRequest other = ConnectRequest.parse(changed);
      assertThat(other == null || !other.isAuthentic(new Hmac(), SECRET))
          .as("bit %d", bit)
          .isTrue();
    }
    assertThat(ConnectRequest.parse(Arrays.copyOf(encoded, encoded.length - 1))).isNull();
  }
}
