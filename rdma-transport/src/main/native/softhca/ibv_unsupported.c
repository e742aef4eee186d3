/* What programs link against but this device does not have: shared receive queues, address handles, extended queue pairs. */
#include "soft.h"

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	(void)pd, (void)attr;
	errno = EOPNOTSUPP;
	return NULL;
}

EXPORT int ibv_destroy_srq(struct ibv_srq *srq) { (void)srq; return EINVAL; }

EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	(void)pd, (void)attr;
	errno = EOPNOTSUPP;
	return NULL;
}

EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port)
{
	(void)wc, (void)grh, (void)port;
	return ibv_create_ah(pd, NULL);
}

EXPORT int ibv_destroy_ah(struct ibv_ah *ah) { (void)ah; return EINVAL; }
EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp) { (void)qp; return NULL; }
EXPORT int ibv_resize_cq(struct ibv_cq *cq, int cqe) { (void)cq, (void)cqe; return EOPNOTSUPP; }

EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	(void)mr, (void)flags, (void)pd, (void)addr, (void)length, (void)access;
	errno = EOPNOTSUPP;
	return IBV_REREG_MR_ERR_INPUT;
}
