/*
 * The twin of models/worlds/independent_clients.py for Spin: one process for each client.
 *
 * Where a client stands in its session is where its process stands, so that a private step touches nothing that
 * another process can see, and Spin's partial-order reduction can take it alone. A client that is done stays
 * where it is. Without reduction and without merging of statements (spin -o3) Spin stores exactly the states of
 * the world, and counts one transition more: the way into the first state.
 *
 *     spin -a -o3 -DCLIENTS=5 -DSTEPS=3 independent_clients.pml
 */

#define NOBODY     0

byte registered = 0;
byte holder[CLIENTS] = NOBODY;     /* one more than the client */

#define STEPS_0
#define STEPS_1    prepare();
#define STEPS_2    STEPS_1 prepare();
#define STEPS_3    STEPS_2 prepare();
#define STEPS_4    STEPS_3 prepare();
#define STEPS_5    STEPS_4 prepare();
#define STEPS_6    STEPS_5 prepare();
#define STEPS_7    STEPS_6 prepare();
#define STEPS_8    STEPS_7 prepare();
#define PASTED(a, b)  a##b
#define TIMES(n)      PASTED(STEPS_, n)

inline prepare() {
    session++
}

active [CLIENTS] proctype client() {
    byte session = 0;
    byte number = 0;               /* one more than the number */

    TIMES(STEPS)
    d_step {
        session == STEPS;
        assert(holder[registered] == NOBODY);
        holder[registered] = _pid + 1;
        registered++;
        number = registered;
        assert(holder[number - 1] == _pid + 1)
    }
end:
    false
}
