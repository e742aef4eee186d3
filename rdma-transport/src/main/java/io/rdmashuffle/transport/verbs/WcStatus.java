package io.rdmashuffle.transport.verbs;

/** Status of a work completion, in the order of enum ibv_wc_status (infiniband/verbs.h). */
public enum WcStatus {
  SUCCESS,
  LOC_LEN_ERR,
  LOC_QP_OP_ERR,
  LOC_EEC_OP_ERR,
  LOC_PROT_ERR,
  WR_FLUSH_ERR,
  MW_BIND_ERR,
  BAD_RESP_ERR,
  LOC_ACCESS_ERR,
  REM_INV_REQ_ERR,
  REM_ACCESS_ERR,
  REM_OP_ERR,
  RETRY_EXC_ERR,
  RNR_RETRY_EXC_ERR,
  LOC_RDD_VIOL_ERR,
  REM_INV_RD_REQ_ERR,
  REM_ABORT_ERR,
  INV_EECN_ERR,
  INV_EEC_STATE_ERR,
  FATAL_ERR,
  RESP_TIMEOUT_ERR,
  GENERAL_ERR;

  private static final WcStatus[] ALL = values();

  /** Whether one request was refused, here or by a peer that answers, for what it asked. */
  public boolean isRefusal() {
    return switch (this) {
      case LOC_LEN_ERR, LOC_PROT_ERR, LOC_ACCESS_ERR, REM_INV_REQ_ERR, REM_ACCESS_ERR, REM_OP_ERR ->
          true;
      default -> false;
    };
  }

  /** A number this list does not know is an error of unknown kind, not an exception. */
  public static WcStatus of(int code) {
    return code >= 0 && code < ALL.length ? ALL[code] : GENERAL_ERR;
  }
}
