/*
 * The twin of models/worlds/split_merge.py for Spin: the same actions with the same names over the same states.
 *
 * One process with one control state; every option is one d_step, so that one transition is one action. Spin
 * then stores exactly the states of the world, and counts one transition more: the way into the first state.
 * Each invariant is asserted where an action writes what the invariant reads, and nowhere else.
 *
 * A layout is the row of the hashes' owners, four bits each; a segment's hashes follow from it. The two bits of
 * a topic (created, sealed) stand in two masks over the segments, and so do the ancestors of a segment.
 *
 *     spin -a -DBROKERS=2 -DPRODUCERS=1 -DHASHES=2 -DKEYS=1 -DSEGMENTS=4 -DMESSAGES=2 -DCRASHES=1 split_merge.pml
 */

#if BROKERS > 3 || HASHES > 4 || KEYS > 4 || SEGMENTS > 10 || PRODUCERS * MESSAGES > 7 || CRASHES > 7
#error "there is no room for these bounds in the bits below"
#endif

#define ROOM       (PRODUCERS * MESSAGES)
#define NOBODY     15
#define TURNED     65535         /* the layout of a producer that was turned away */

#define IDLE       0
#define LOST       1
#define BUSY       2

#define HASH(key)         ((key) * HASHES / KEYS)
#define OWNER(row, h)     (((row) >> (4 * (h))) & 15)
#define OWNS(s, h)        (OWNER(owners, h) == (s))
#define BIT(s)            (1 << (s))
#define MESSAGE(k, n, o)  ((k) | ((o) << 2) | ((n) << 3))
#define KEY(message)      ((message) & 3)
#define NUMBER(message)   ((message) >> 3)

typedef Change {
    unsigned stage      : 2;
    unsigned version    : 5;
    unsigned parent     : 4;
    unsigned neighbour  : 4;   /* the second parent of a merge, NOBODY in a split */
    unsigned child      : 4;   /* the other child of a split has the next id */
    unsigned subscribed : 1;
    unsigned created    : 2;
    unsigned sealed     : 2
}

typedef Segment {
    byte log[ROOM];
    unsigned length    : 4;
    unsigned cursor    : 4;    /* one more than the position, 0 without a cursor */
    unsigned ancestors : 10
}

typedef Producer {
    unsigned layout : 16;
    unsigned spent  : 4
}

unsigned leader       : 2 = 0; /* one more than the broker, 0 without a leader */
unsigned faults_left  : 3 = CRASHES;
unsigned version      : 5 = 0;
unsigned next_id      : 4 = 1;
unsigned subscribed   : 1 = 0;
unsigned waiting      : 10 = 0;
unsigned created      : 10 = 1;
unsigned sealed       : 10 = 0;
unsigned owners       : 16 = 0;

Change change[BROKERS];
Segment segment[SEGMENTS];
Producer producer[PRODUCERS];
byte sent[KEYS];
byte received[KEYS];           /* one bit for each number, which go up */

hidden byte h, first, last, owner, message;
hidden short before;

#if HASHES == 1
#define WIDTH(s)           OWNS(s, 0)
#elif HASHES == 2
#define WIDTH(s)           (OWNS(s, 0) + OWNS(s, 1))
#elif HASHES == 3
#define WIDTH(s)           (OWNS(s, 0) + OWNS(s, 1) + OWNS(s, 2))
#else
#define WIDTH(s)           (OWNS(s, 0) + OWNS(s, 1) + OWNS(s, 2) + OWNS(s, 3))
#endif

#define CREATED            (subscribed && waiting == 0)
#define SPLITS(b)          (change[b].neighbour == NOBODY)
#define CHILDREN(b)        (1 + SPLITS(b))
#define PARENTS(b)         (2 - SPLITS(b))
#define DRAINED(a)         (segment[a].cursor == 0 || segment[a].cursor == segment[a].length + 1)
#define IN_FRONT(s, a)     (!(segment[s].ancestors & BIT(a)) || DRAINED(a))
#define FRONT_1(s)         IN_FRONT(s, 0)
#define FRONT_2(s)         FRONT_1(s) && IN_FRONT(s, 1)
#define FRONT_3(s)         FRONT_2(s) && IN_FRONT(s, 2)
#define FRONT_4(s)         FRONT_3(s) && IN_FRONT(s, 3)
#define FRONT_5(s)         FRONT_4(s) && IN_FRONT(s, 4)
#define FRONT_6(s)         FRONT_5(s) && IN_FRONT(s, 5)
#define FRONT_7(s)         FRONT_6(s) && IN_FRONT(s, 6)
#define FRONT_8(s)         FRONT_7(s) && IN_FRONT(s, 7)
#define FRONT_9(s)         FRONT_8(s) && IN_FRONT(s, 8)
#define FRONT_10(s)        FRONT_9(s) && IN_FRONT(s, 9)
#define PASTED(a, b)       a##b
#define FRONT(n, s)        PASTED(FRONT_, n)(s)

inline rest(b, how) {
    change[b].stage = how;
    change[b].version = 0;
    change[b].parent = 0;
    change[b].neighbour = 0;
    change[b].child = 0;
    change[b].subscribed = 0;
    change[b].created = 0;
    change[b].sealed = 0
}

inline win_the_election(b) {
    d_step { leader == 0 -> leader = b + 1 }
}

inline expire_the_session() {
    d_step { faults_left > 0 && leader != 0 -> leader = 0; faults_left-- }
}

inline crash(b) {
    d_step {
        faults_left > 0 && change[b].stage == BUSY ->
        rest(b, IDLE);
        faults_left--;
        if
        :: leader == b + 1 -> leader = 0
        :: else
        fi
    }
}

inline begin(b, one, other, ids) {
    change[b].stage = BUSY;
    version++;
    change[b].version = version;
    change[b].parent = one;
    change[b].neighbour = other;
    change[b].child = next_id;
    change[b].subscribed = subscribed;
    change[b].created = 0;
    change[b].sealed = 0;
    next_id = next_id + ids
}

inline begin_split(b, s) {
    d_step {
        leader == b + 1 && change[b].stage != BUSY && next_id + 2 <= SEGMENTS && WIDTH(s) > 1 ->
        begin(b, s, NOBODY, 2)
    }
}

/* The two neighbours are the owners of a hash and of the next one. */
inline begin_merge(b, edge) {
    d_step {
        leader == b + 1 && change[b].stage != BUSY && next_id + 1 <= SEGMENTS &&
        OWNER(owners, edge) != OWNER(owners, edge + 1) ->
        begin(b, OWNER(owners, edge), OWNER(owners, edge + 1), 1)
    }
}

inline create_child(b) {
    d_step {
        change[b].stage == BUSY && change[b].created < CHILDREN(b) ->
        owner = change[b].child + change[b].created;
        created = created | BIT(owner);
        segment[owner].cursor = change[b].subscribed;
        assert(segment[owner].length == 0);
        change[b].created++
    }
}

inline seal_parent(b) {
    d_step {
        change[b].stage == BUSY && change[b].created == CHILDREN(b) && change[b].sealed < PARENTS(b) ->
        sealed = sealed | BIT((change[b].sealed -> change[b].neighbour : change[b].parent));
        change[b].sealed++
    }
}

inline hand_over(b) {
    first = NOBODY;
    h = 0;
    do
    :: h == HASHES -> break
    :: else ->
        if
        :: OWNS(change[b].parent, h) || OWNS(change[b].neighbour, h) ->
            last = h;
            if
            :: first == NOBODY -> first = h
            :: else
            fi
        :: else
        fi;
        h++
    od;
    assert(first != NOBODY);
    h = first;
    do
    :: h > last -> break
    :: else ->
        assert(OWNS(change[b].parent, h) || OWNS(change[b].neighbour, h));
        owner = change[b].child + (SPLITS(b) && h > (first + last) / 2);
        owners = (owners & ~(15 << (4 * h))) | (owner << (4 * h));
        h++
    od
}

inline publish(b) {
    d_step {
        change[b].stage == BUSY && change[b].created == CHILDREN(b) && change[b].sealed == PARENTS(b) ->
        if
        :: change[b].version != version -> rest(b, LOST)
        :: else ->
            version++;
            hand_over(b);
            before = BIT(change[b].parent) | segment[change[b].parent].ancestors;
            if
            :: SPLITS(b) -> segment[change[b].child + 1].ancestors = before
            :: else ->
                before = before | BIT(change[b].neighbour) | segment[change[b].neighbour].ancestors
            fi;
            segment[change[b].child].ancestors = before;
            assert((before & ~sealed) == 0);
            rest(b, IDLE)
        fi
    }
}

inline send(p, key) {
    d_step {
        producer[p].spent < MESSAGES && producer[p].layout != TURNED ->
        owner = OWNER(producer[p].layout, HASH(key));
        if
        :: sealed & BIT(owner) -> producer[p].layout = TURNED
        :: else ->
            assert(!CREATED || segment[owner].cursor != 0);
            sent[key]++;
            segment[owner].log[segment[owner].length] = MESSAGE(key, sent[key], CREATED);
            segment[owner].length++;
            producer[p].spent++
        fi
    }
}

inline look_up(p) {
    d_step { producer[p].layout == TURNED -> producer[p].layout = owners }
}

inline ask_for_subscription() {
    d_step {
        !subscribed ->
        subscribed = 1;
        h = 0;
        do
        :: h == HASHES -> break
        :: else -> waiting = waiting | BIT(OWNER(owners, h)); h++
        od;
        version++
    }
}

inline create_cursor(s) {
    d_step {
        waiting & BIT(s) ->
        segment[s].cursor = segment[s].length + 1;
        waiting = waiting & ~BIT(s)
    }
}

inline consume(s) {
    d_step {
        segment[s].cursor != 0 && segment[s].cursor <= segment[s].length && FRONT(SEGMENTS, s) ->
        message = segment[s].log[segment[s].cursor - 1];
        assert(received[KEY(message)] >> NUMBER(message) == 0);
        received[KEY(message)] = received[KEY(message)] | BIT(NUMBER(message));
        segment[s].cursor++
    }
}

#define SPLITS_1(b)        :: begin_split(b, 0)
#define SPLITS_2(b)        SPLITS_1(b) :: begin_split(b, 1)
#define SPLITS_3(b)        SPLITS_2(b) :: begin_split(b, 2)
#define SPLITS_4(b)        SPLITS_3(b) :: begin_split(b, 3)
#define SPLITS_5(b)        SPLITS_4(b) :: begin_split(b, 4)
#define SPLITS_6(b)        SPLITS_5(b) :: begin_split(b, 5)
#define SPLITS_7(b)        SPLITS_6(b) :: begin_split(b, 6)
#define SPLITS_8(b)        SPLITS_7(b) :: begin_split(b, 7)
#define SPLITS_9(b)        SPLITS_8(b) :: begin_split(b, 8)
#define SPLITS_10(b)       SPLITS_9(b) :: begin_split(b, 9)
#define MERGES_1(b)
#define MERGES_2(b)        MERGES_1(b) :: begin_merge(b, 0)
#define MERGES_3(b)        MERGES_2(b) :: begin_merge(b, 1)
#define MERGES_4(b)        MERGES_3(b) :: begin_merge(b, 2)
#define SENDS_1(p)         :: send(p, 0)
#define SENDS_2(p)         SENDS_1(p) :: send(p, 1)
#define SENDS_3(p)         SENDS_2(p) :: send(p, 2)
#define SENDS_4(p)         SENDS_3(p) :: send(p, 3)
#define BEGIN_SPLIT(n, b)  PASTED(SPLITS_, n)(b)
#define BEGIN_MERGE(n, b)  PASTED(MERGES_, n)(b)
#define SEND(n, p)         PASTED(SENDS_, n)(p)

#define BROKER(b)          :: win_the_election(b) :: crash(b) :: create_child(b) :: seal_parent(b) \
                           :: publish(b) BEGIN_SPLIT(SEGMENTS, b) BEGIN_MERGE(HASHES, b)
#define PRODUCER(p)        :: look_up(p) SEND(KEYS, p)
#define READER(s)          :: create_cursor(s) :: consume(s)

#define UP_TO_1(option)    option(0)
#define UP_TO_2(option)    UP_TO_1(option) option(1)
#define UP_TO_3(option)    UP_TO_2(option) option(2)
#define UP_TO_4(option)    UP_TO_3(option) option(3)
#define UP_TO_5(option)    UP_TO_4(option) option(4)
#define UP_TO_6(option)    UP_TO_5(option) option(5)
#define UP_TO_7(option)    UP_TO_6(option) option(6)
#define UP_TO_8(option)    UP_TO_7(option) option(7)
#define UP_TO_9(option)    UP_TO_8(option) option(8)
#define UP_TO_10(option)   UP_TO_9(option) option(9)
#define EACH(n, option)    PASTED(UP_TO_, n)(option)

active proctype everybody() {
end:
    do
    :: expire_the_session()
    :: ask_for_subscription()
    EACH(BROKERS, BROKER)
    EACH(PRODUCERS, PRODUCER)
    EACH(SEGMENTS, READER)
    od
}
