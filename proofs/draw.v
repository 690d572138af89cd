(* SPDX-License-Identifier: MIT *)
(* The uniform slot draw of lib/bag.

   In words. The grid has m slots. A draw picks a slot uniformly; when it holds
   no element that can be claimed, it picks again. Consider all m^t sequences of
   t picks. The number of those whose first hit is attempt j, on slot s, is the
   same for every slot s that is occupied at attempt j. So, given the attempt
   that succeeds, all elements are equally likely, whatever the buckets hold.
   On a grid that does not change and has k occupied slots, the number is
   (m-k)^(j-1) * m^(t-j).

   The occupancy may change from one attempt to the next, as other threads put
   and draw. It is a function of the attempt and the slot, fixed before the
   picks: this is the "oblivious schedule" of the statement. "Occupied at
   attempt j" stands for an element that stays from the load to the claim.

   The contrast. Picking a bucket and then an element in it (as in Lin 2026) is
   not uniform over elements as soon as two buckets differ in length.

   Rejection sampling: von Neumann 1951. *)

From Coq Require Import Arith Lia List QArith.
From lade Require Import counting.
Import ListNotations.
Local Open Scope nat_scope.

Section Draw.

Variable m : nat. (* slots in the grid *)

(* All sequences of t picks: each once, by picks_all and picks_nodup. *)
Local Notation picks := (picks m).

(* occ j c: at attempt j, slot c holds an element from the load to the claim. *)
Variable occ : nat -> nat -> bool.

Definition occupied (j : nat) : nat := count (occ j) (seq 0 m).
Definition empty (j : nat) : nat := count (fun c => negb (occ j c)) (seq 0 m).

(* Attempt and slot of the first hit, when the next attempt has number i. *)
Fixpoint first_hit (i : nat) (xs : list nat) : option (nat * nat) :=
  match xs with
  | [] => None
  | c :: r => if occ i c then Some (i, c) else first_hit (S i) r
  end.

(* The first hit is at attempt j, on slot s. *)
Definition hits (i j s : nat) (xs : list nat) : bool :=
  match first_hit i xs with
  | Some (j', s') => ((j =? j') && (s =? s'))%bool
  | None => false
  end.

Definition fails (i : nat) (xs : list nat) : bool :=
  match first_hit i xs with Some _ => false | None => true end.

(* Ways to miss at the d attempts from i on. *)
Fixpoint misses (i d : nat) : nat :=
  match d with 0 => 1 | S d => empty i * misses (S i) d end.

Lemma hits_cons i j s c xs :
  hits i j s (c :: xs) =
  if occ i c then ((j =? i) && (s =? c))%bool else hits (S i) j s xs.
Proof. unfold hits. cbn. destruct (occ i c); reflexivity. Qed.

Lemma first_hit_later xs : forall i j s,
  first_hit i xs = Some (j, s) -> i <= j < i + length xs.
Proof.
  induction xs as [| c xs IH]; intros i j s; cbn; [discriminate |].
  destruct (occ i c).
  - intros [= -> _]. lia.
  - intros H%IH. lia.
Qed.

Lemma hits_later i j s xs : j < i -> hits i j s xs = false.
Proof.
  intros H. unfold hits. destruct (first_hit i xs) as [[j' s'] |] eqn:E;
    [| reflexivity].
  apply first_hit_later in E. destruct (Nat.eqb_spec j j'); [lia | reflexivity].
Qed.

Lemma hits_count t : forall i d s,
  d < t -> s < m -> occ (i + d) s = true ->
  count (hits i (i + d) s) (picks t) = misses i d * m ^ (t - 1 - d).
Proof.
  induction t as [| t IH]; intros i d s Hd Hs Ho; [lia |].
  cbn [picks]. rewrite count_flat_map. destruct d as [| d].
  - (* the hit comes first: only slot s will do, and the rest is free *)
    rewrite Nat.add_0_r in *. cbn [misses].
    rewrite (total_ext _ (fun c => if s =? c then m ^ t else 0)).
    + rewrite (total_if (Nat.eqb s)), count_one by (apply seq_NoDup || (apply in_seq; lia)).
      do 2 f_equal. lia.
    + intros c _. rewrite count_map.
      rewrite (count_ext _ (fun _ => s =? c)).
      * rewrite count_const, picks_length. reflexivity.
      * intros xs. rewrite hits_cons, Nat.eqb_refl. cbn [andb].
        destruct (occ i c) eqn:Ec; [reflexivity |].
        rewrite hits_later by lia.
        destruct (Nat.eqb_spec s c); congruence.
  - (* a miss comes first: any empty slot will do *)
    rewrite (total_ext _ (fun c => if negb (occ i c)
      then misses (S i) d * m ^ (t - 1 - d) else 0)).
    + rewrite (total_if (fun c => negb (occ i c))). cbn [misses]. fold (empty i).
      rewrite Nat.mul_assoc. do 2 f_equal. lia.
    + intros c _. rewrite count_map.
      destruct (occ i c) eqn:Ec; cbn [negb].
      * rewrite (count_ext _ (fun _ => false)); [apply count_const |].
        intros xs. rewrite hits_cons, Ec.
        destruct (Nat.eqb_spec (i + S d) i); [lia | reflexivity].
      * rewrite (count_ext _ (hits (S i) (S i + d) s)).
        -- apply IH; [lia | assumption |]. rewrite <- Ho. f_equal. lia.
        -- intros xs. rewrite hits_cons, Ec. f_equal. lia.
Qed.

Lemma fails_count t : forall i, count (fails i) (picks t) = misses i t.
Proof.
  induction t as [| t IH]; intros i; [reflexivity |].
  cbn [picks misses]. rewrite count_flat_map.
  rewrite (total_ext _ (fun c => if negb (occ i c) then misses (S i) t else 0)).
  - apply (total_if (fun c => negb (occ i c))).
  - intros c _. rewrite count_map, <- IH. unfold fails. cbn [first_hit].
    destruct (occ i c); cbn [negb]; [apply count_const | reflexivity].
Qed.

Lemma empty_occupied j : occupied j + empty j = m.
Proof.
  unfold occupied, empty, count. rewrite <- (seq_length m 0) at 3.
  induction (seq 0 m) as [| x l IH]; [reflexivity |].
  cbn. destruct (occ j x); cbn; lia.
Qed.

(* ---- The statements; attempts count from 1 ---- *)

(* The number of sequences that draw slot s at attempt j. *)
Definition draws (t j s : nat) : nat := count (hits 1 j s) (picks t).

(* The number of sequences that draw at attempt j, whatever the slot. *)
Definition successes (t j : nat) : nat := total (draws t j) (seq 0 m).

(* Exact number, with an occupancy that changes between the attempts. *)
Theorem draw_count t j s :
  1 <= j <= t -> s < m -> occ j s = true ->
  draws t j s = misses 1 (j - 1) * m ^ (t - j).
Proof.
  intros Hj Hs Ho. unfold draws. replace j with (1 + (j - 1)) at 1 by lia.
  rewrite hits_count; try lia.
  - do 2 f_equal. lia.
  - rewrite <- Ho. f_equal. lia.
Qed.

(* Given the attempt that succeeds, all slots occupied then are equally likely. *)
Theorem draw_uniform t j s s' :
  1 <= j <= t -> s < m -> s' < m -> occ j s = true -> occ j s' = true ->
  draws t j s = draws t j s'.
Proof. intros. rewrite !draw_count; auto. Qed.

(* An empty slot is never drawn. *)
Theorem draw_never_empty t j s : occ j s = false -> draws t j s = 0.
Proof.
  intros He. unfold draws. rewrite (count_ext _ (fun _ => false)).
  - apply count_const.
  - assert (G : forall xs i, hits i j s xs = false).
    { induction xs as [| c xs IH]; intros i; [reflexivity |].
      rewrite hits_cons. destruct (occ i c) eqn:E; [| apply IH].
      destruct (Nat.eqb_spec j i); [| reflexivity].
      destruct (Nat.eqb_spec s c); [congruence | reflexivity]. }
    intros xs. apply G.
Qed.

(* So the share of each occupied slot, among the draws that succeed at attempt
   j, is one in the number of occupied slots. *)
Theorem draw_share t j s :
  1 <= j <= t -> s < m -> occ j s = true ->
  successes t j = occupied j * draws t j s.
Proof.
  intros Hj Hs Ho. unfold successes, occupied. rewrite <- total_if.
  apply total_ext. intros c Hc%in_seq. destruct (occ j c) eqn:Ec.
  - apply draw_uniform; auto; lia.
  - apply draw_never_empty; assumption.
Qed.

(* Elements that stay for all t attempts are equally likely over all of them. *)
Definition drawn (s : nat) (xs : list nat) : bool :=
  match first_hit 1 xs with Some (_, s') => s =? s' | None => false end.

Lemma drawn_by_attempt t s :
  count (drawn s) (picks t) = total (fun j => draws t j s) (seq 1 t).
Proof.
  apply count_by_case. intros xs [L _]%picks_all. unfold drawn, hits.
  destruct (first_hit 1 xs) as [[j s'] |] eqn:E; [| symmetry; apply total_zero].
  apply first_hit_later in E. destruct (s =? s').
  - rewrite (total_ext _ (fun h => if j =? h then 1 else 0)).
    + rewrite (total_if (Nat.eqb j)), count_one; [reflexivity | apply seq_NoDup |].
      apply in_seq. lia.
    + intros h _. rewrite Bool.andb_true_r, Nat.eqb_sym. reflexivity.
  - rewrite (total_ext _ (fun _ => 0)); [symmetry; apply total_zero |].
    intros h _. rewrite Bool.andb_false_r. reflexivity.
Qed.

Theorem draw_uniform_overall t s s' :
  s < m -> s' < m ->
  (forall j, 1 <= j <= t -> occ j s = true /\ occ j s' = true) ->
  count (drawn s) (picks t) = count (drawn s') (picks t).
Proof.
  intros Hs Hs' H. rewrite !drawn_by_attempt. apply total_ext.
  intros j Hj%in_seq. destruct (H j); [lia |]. apply draw_uniform; auto; lia.
Qed.

End Draw.

(* ---- A grid that does not change ---- *)

Section Fixed.

Variable m : nat.
Variable full : nat -> bool.

Definition always (_ : nat) : nat -> bool := full.

Lemma misses_fixed d : forall i,
  misses m always i d = (m - count full (seq 0 m)) ^ d.
Proof.
  induction d as [| d IH]; intros i; [reflexivity |]. cbn [misses Nat.pow].
  rewrite IH. f_equal. pose proof (empty_occupied m always i) as E.
  unfold occupied, always at 1 in E. lia.
Qed.

(* The number named at the top: it does not depend on s. *)
Theorem draw_count_fixed t j s k :
  k = count full (seq 0 m) -> 1 <= j <= t -> s < m -> full s = true ->
  draws m always t j s = (m - k) ^ (j - 1) * m ^ (t - j).
Proof. intros ->. intros. rewrite draw_count, misses_fixed; auto. Qed.

(* Of the m^t sequences, (m-k)^t find nothing: the share (1 - k/m)^t. *)
Theorem draw_fails_fixed t k :
  k = count full (seq 0 m) ->
  count (fails always 1) (picks m t) = (m - k) ^ t /\ length (picks m t) = m ^ t.
Proof.
  intros ->. split; [| apply picks_length]. rewrite fails_count. apply misses_fixed.
Qed.

End Fixed.

(* ---- Bucket, then element ---- *)

Local Open Scope Q_scope.

Definition rational (x : nat) : Q := inject_Z (Z.of_nat x).

(* The chance of element e: pick one of the buckets, then one of its members. *)
Definition bucket_then_element (buckets : list (list nat)) (e : nat) : Q :=
  fold_right Qplus 0 (map (fun bucket =>
    (1 / rational (length buckets)) *
    (rational (count_occ Nat.eq_dec bucket e) / rational (length bucket))) buckets).

(* Two buckets, one element against three: 1/2 for the one, 1/6 for the others,
   where uniform would be 1/4 for each. *)
Theorem bucket_then_element_biased :
  let chance := bucket_then_element [[0%nat]; [1%nat; 2%nat; 3%nat]] in
  chance 0%nat == 1 # 2 /\ chance 1%nat == 1 # 6 /\
  chance 2%nat == 1 # 6 /\ chance 3%nat == 1 # 6 /\
  ~ chance 0%nat == chance 1%nat.
Proof. repeat split; try reflexivity. discriminate. Qed.

Lemma rational_pos x : (1 <= x)%nat -> ~ rational x == 0.
Proof. unfold rational, inject_Z, Qeq. cbn. lia. Qed.

(* In general, with g buckets: elements of buckets with x and y members have
   equal chances only when x = y. *)
Theorem bucket_lengths_matter (g x y : nat) :
  (1 <= g)%nat -> (1 <= x)%nat -> (1 <= y)%nat ->
  (1 / rational g) * (1 / rational x) == (1 / rational g) * (1 / rational y)
  <-> x = y.
Proof.
  intros Hg%rational_pos Hx%rational_pos Hy%rational_pos. split.
  - intros H. assert (E : rational x == rational y).
    { transitivity (rational g * rational x * rational y *
                    ((1 / rational g) * (1 / rational y))).
      - field; auto.
      - rewrite <- H. field; auto. }
    unfold rational, inject_Z, Qeq in E. cbn in E. lia.
  - intros ->. reflexivity.
Qed.

(* The slot draw on the same content: two buckets of three slots, so a grid of
   six, of which 0, 3, 4 and 5 are full. Of the 216 sequences of three picks
   each element is drawn by 36 + 12 + 4 = 52; 8 find nothing. *)
Example slot_draw_same_content :
  let full s := ((s =? 0) || (3 <=? s))%nat%bool in
  map (fun s => count (drawn (always full) s) (picks 6 3)) [0; 3; 4; 5]%nat
    = [52; 52; 52; 52]%nat /\
  count (fails (always full) 1) (picks 6 3) = 8%nat.
Proof. split; reflexivity. Qed.
