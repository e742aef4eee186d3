/* Called in a forked child with no other thread running: drop the parent's descriptors, mappings and lists, disturb nothing. */
#ifndef SOFT_FORK_H
#define SOFT_FORK_H

void soft_id_forget_all(void);
void soft_qp_forget_all(void);
void soft_poller_forget(void);
void soft_engine_forget(void);
void soft_table_forget(void);
void soft_mr_forget_all(void);
void soft_async_forget(void);
void soft_fault_forget(void);
void soft_counter_forget(void);

#endif
