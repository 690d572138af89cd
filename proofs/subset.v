(* SPDX-License-Identifier: MIT *)
(* A random subset keeps the frequencies of its source.

   In words. Among all subsets of k out of n items, each equally likely, the
   share of those that contain a given item is k/n. So the expected number of
   items of a class in the subset is k/n times their number in the source:
   expected class frequencies are those of the source (theorem T4 of Lin 2026,
   in the form that is true).

   Counting: n * C(n-1,k-1) = k * C(n,k), known since Pascal 1665. Inclusion
   probabilities of simple random sampling: Cochran 1977. *)

From Coq Require Import Arith Lia List Permutation FinFun.
From lade Require Import counting.
Import ListNotations.

(* ---- All subsets of k members, in the order of the list ---- *)

Fixpoint subsets (l : list nat) (k : nat) : list (list nat) :=
  match k, l with
  | 0, _ => [[]]
  | S _, [] => []
  | S k', x :: r => map (cons x) (subsets r k') ++ subsets r k
  end.

Definition member (s : list nat) (x : nat) : bool :=
  existsb (Nat.eqb x) s.

Lemma member_in s x : member s x = true <-> In x s.
Proof.
  unfold member. rewrite existsb_exists. split.
  - intros (y & Hy & <-%Nat.eqb_eq). assumption.
  - intros H. exists x. split; [assumption | apply Nat.eqb_refl].
Qed.

Lemma member_not s x : ~ In x s -> member s x = false.
Proof.
  intros H. destruct (member s x) eqn:E; [| reflexivity].
  apply member_in in E. contradiction.
Qed.

Lemma subsets_zero l : subsets l 0 = [[]].
Proof. destruct l; reflexivity. Qed.

Lemma subsets_sound l : forall k s,
  In s (subsets l k) -> length s = k /\ incl s l.
Proof.
  induction l as [| x l IH]; intros [| k] s; cbn [subsets].
  - intros [<- | []]. split; [reflexivity | intros y []].
  - intros [].
  - intros [<- | []]. split; [reflexivity | intros y []].
  - intros [(s' & <- & H%IH)%in_map_iff | H%IH]%in_app_or.
    + destruct H as [L I]. split; [cbn; lia |].
      intros y [-> | Hy]; cbn; auto.
    + destruct H as [L I]. split; [assumption |]. intros y Hy. right. auto.
Qed.

Lemma filter_subset f l : In (filter f l) (subsets l (length (filter f l))).
Proof.
  induction l as [| x l IH]; [cbn; auto |]. cbn [filter].
  destruct (f x); cbn [length].
  - cbn [subsets]. apply in_or_app. left. apply in_map. assumption.
  - destruct (length (filter f l)) as [| k] eqn:E.
    + apply length_zero_iff_nil in E. rewrite E. cbn; auto.
    + cbn [subsets]. apply in_or_app. right. assumption.
Qed.

(* A subset is fixed by its members. *)
Lemma subset_filter l : NoDup l -> forall k s,
  In s (subsets l k) -> filter (member s) l = s.
Proof.
  assert (none : forall r, filter (member []) r = []).
  { induction r as [| y r IH]; [reflexivity | exact IH]. }
  induction 1 as [| x l Hx ND IH]; intros [| k] s; cbn [subsets].
  - intros [<- | []]. reflexivity.
  - intros [].
  - intros [<- | []]. apply none.
  - intros [(s' & <- & H)%in_map_iff | H]%in_app_or; cbn [filter].
    + assert (E : member (x :: s') x = true) by (apply member_in; left; reflexivity).
      rewrite E. f_equal. rewrite <- (IH k s' H) at 2.
      apply filter_ext_in. intros y Hy. cbn.
      destruct (Nat.eqb_spec y x); [congruence | reflexivity].
    + rewrite member_not; [apply (IH (S k)); assumption |].
      intros Hs. apply subsets_sound in H. apply Hx, H, Hs.
Qed.

Lemma subsets_nodup l : NoDup l -> forall k, NoDup (subsets l k).
Proof.
  induction 1 as [| x l Hx ND IH]; intros [| k]; cbn [subsets];
    try (repeat constructor; intros []; fail).
  apply nodup_app; [| apply IH |].
  - apply Injective_map_NoDup; [| apply IH]. intros s s'. congruence.
  - intros s (s' & <- & _)%in_map_iff H. apply subsets_sound in H.
    apply Hx, H. left. reflexivity.
Qed.

(* The list holds the sets of k items of l, every one, and once: so counting in
   it is counting sets. *)
Theorem subsets_all l k :
  NoDup l ->
  NoDup (subsets l k) /\
  (forall s, In s (subsets l k) -> NoDup s /\ incl s l /\ length s = k) /\
  (forall u, NoDup u -> incl u l -> length u = k ->
     exists s, In s (subsets l k) /\ Permutation s u) /\
  (forall s s', In s (subsets l k) -> In s' (subsets l k) ->
     (forall x, In x s <-> In x s') -> s = s').
Proof.
  intros ND. split; [apply subsets_nodup; assumption |]. split; [| split].
  - intros s H. destruct (subsets_sound l k s H) as [L I].
    split; [| auto]. rewrite <- (subset_filter l ND k s H).
    apply NoDup_filter. assumption.
  - intros u NU I L. exists (filter (member u) l).
    assert (P : Permutation (filter (member u) l) u).
    { apply NoDup_Permutation; [apply NoDup_filter; assumption | assumption |].
      intros x. rewrite filter_In, member_in. split; [tauto | auto]. }
    split; [| assumption].
    rewrite <- L, <- (Permutation_length P). apply filter_subset.
  - intros s s' H H' E. rewrite <- (subset_filter l ND k s H).
    rewrite <- (subset_filter l ND k s' H'). apply filter_ext.
    intros x. destruct (member s x) eqn:M; symmetry.
    + apply member_in, E, member_in. assumption.
    + apply member_not. intros Hx%E%member_in. congruence.
Qed.

(* ---- Their number ---- *)

Lemma subsets_length l : forall k, length (subsets l k) = choose (length l) k.
Proof.
  induction l as [| x l IH]; intros [| k]; try reflexivity.
  cbn [subsets choose length]. rewrite app_length, map_length, !IH. reflexivity.
Qed.

(* ---- The statements ---- *)

(* The number of subsets of k items that contain x. *)
Definition containing (l : list nat) (k x : nat) : nat :=
  count (fun s => member s x) (subsets l k).

Lemma containing_none l k x : ~ In x l -> containing l k x = 0.
Proof.
  intros H. unfold containing. rewrite (count_ext_in _ (fun _ => false)).
  - apply count_const.
  - intros s [_ I]%subsets_sound. apply member_not. auto.
Qed.

Lemma containing_step l k x y :
  containing (y :: l) (S k) x =
  (if x =? y then length (subsets l k) else containing l k x) +
  containing l (S k) x.
Proof.
  unfold containing at 1. cbn [subsets]. rewrite count_app, count_map.
  f_equal. unfold member at 1. cbn [existsb]. destruct (x =? y); cbn [orb].
  - rewrite count_const. reflexivity.
  - reflexivity.
Qed.

(* Item x is in C(n-1,k-1) of the C(n,k) subsets. *)
Theorem subset_containing l k x :
  NoDup l -> In x l -> containing l (S k) x = choose (length l - 1) k.
Proof.
  intros ND. revert k. induction ND as [| y l Hy ND IH]; intros k Hx; [destruct Hx |].
  rewrite containing_step. cbn [length].
  replace (S (length l) - 1) with (length l) by lia.
  destruct (Nat.eqb_spec x y) as [-> | N].
  - rewrite (containing_none l) by assumption. rewrite subsets_length. lia.
  - destruct Hx as [-> | Hx]; [congruence |]. rewrite IH by assumption.
    destruct l as [| z l]; [destruct Hx |]. cbn [length].
    replace (S (length l) - 1) with (length l) by lia. destruct k as [| k].
    + unfold containing. rewrite subsets_zero, !choose_zero. reflexivity.
    + rewrite IH by assumption. cbn [length choose].
      replace (S (length l) - 1) with (length l) by lia. reflexivity.
Qed.

(* The share of subsets that contain x is k/n, stated without a division. *)
Theorem subset_share l k x :
  NoDup l -> In x l ->
  length l * containing l k x = k * length (subsets l k).
Proof.
  intros ND Hx. destruct k as [| k].
  - unfold containing. rewrite subsets_zero. cbn. lia.
  - rewrite subset_containing, subsets_length by assumption.
    destruct l as [| y l]; [destruct Hx |]. cbn [length].
    replace (S (length l) - 1) with (length l) by lia. apply choose_absorb.
Qed.

Lemma class_in_subset l k s (class : nat -> bool) :
  NoDup l -> In s (subsets l k) ->
  count class s = total (fun x => if class x && member s x then 1 else 0)%bool l.
Proof.
  intros ND H. rewrite <- (subset_filter l ND k s H) at 1.
  rewrite <- count_total. clear H ND. unfold count.
  induction l as [| x l IH]; [reflexivity |]. cbn [filter].
  destruct (member s x), (class x) eqn:E; cbn [filter andb length];
    rewrite ?E; cbn [length]; auto.
Qed.

(* Classes: added up over all subsets, the items of a class are k/n of their
   number in the source, times the number of subsets. *)
Theorem subset_class_frequency l k (class : nat -> bool) :
  NoDup l ->
  length l * total (count class) (subsets l k) =
  k * length (subsets l k) * count class l.
Proof.
  intros ND.
  rewrite (total_ext _ (fun s =>
    total (fun x => if class x && member s x then 1 else 0)%bool l)).
  2: { intros s H. apply (class_in_subset l k); assumption. }
  rewrite total_swap, <- total_scale.
  rewrite (total_ext _ (fun x => if class x then k * length (subsets l k) else 0)).
  - rewrite total_if. lia.
  - intros x Hx. destruct (class x); cbn [andb].
    + rewrite <- count_total. apply subset_share; assumption.
    + rewrite total_zero. lia.
Qed.

(* A small instance, computed: 3 of 5 items; item 2 is in 6 of 10. *)
Example subset_three_of_five :
  length (subsets (seq 0 5) 3) = 10 /\ containing (seq 0 5) 3 2 = 6.
Proof. split; reflexivity. Qed.
