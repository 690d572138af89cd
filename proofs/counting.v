(* SPDX-License-Identifier: MIT *)
(* Sums and counts over lists, for the files next door. Nothing here is a
   statement of the project. *)

From Coq Require Import Arith Lia List FinFun.
Import ListNotations.

Definition total {A : Type} (f : A -> nat) (l : list A) : nat :=
  list_sum (map f l).

Definition count {A : Type} (f : A -> bool) (l : list A) : nat :=
  length (filter f l).

Lemma total_ext {A} (f g : A -> nat) l :
  (forall x, In x l -> f x = g x) -> total f l = total g l.
Proof. intros H. unfold total. f_equal. apply map_ext_in. assumption. Qed.

Lemma total_plus {A} (f g : A -> nat) l :
  total (fun x => f x + g x) l = total f l + total g l.
Proof.
  unfold total. induction l as [| x l IH]; [reflexivity |].
  cbn [map list_sum fold_right]. unfold list_sum in IH. rewrite IH. lia.
Qed.

Lemma total_if {A} (f : A -> bool) K l :
  total (fun x => if f x then K else 0) l = count f l * K.
Proof.
  unfold total, count, list_sum. induction l as [| x l IH]; [reflexivity |].
  cbn. rewrite IH. destruct (f x); cbn; lia.
Qed.

Lemma total_zero {A} (l : list A) : total (fun _ => 0) l = 0.
Proof. unfold total. induction l; cbn; assumption || reflexivity. Qed.

Lemma total_map {A B} (f : B -> nat) (g : A -> B) l :
  total f (map g l) = total (fun x => f (g x)) l.
Proof. unfold total. rewrite map_map. reflexivity. Qed.

Lemma total_flat_map {A B} (f : B -> nat) (g : A -> list B) l :
  total f (flat_map g l) = total (fun x => total f (g x)) l.
Proof.
  unfold total. induction l as [| x l IH]; [reflexivity |].
  cbn [flat_map map]. rewrite map_app, list_sum_app, IH. reflexivity.
Qed.

(* The order of two sums does not matter. *)
Lemma total_swap {A B} (f : A -> B -> nat) l l' :
  total (fun x => total (f x) l') l = total (fun y => total (fun x => f x y) l) l'.
Proof.
  induction l as [| x l IH]; [symmetry; apply total_zero |].
  change (total (f x) l' + total (fun x => total (f x) l') l =
          total (fun y => f x y + total (fun x => f x y) l) l').
  rewrite total_plus, IH. reflexivity.
Qed.

Lemma total_scale {A} (f : A -> nat) K l :
  total (fun x => K * f x) l = K * total f l.
Proof.
  unfold total, list_sum. induction l as [| x l IH]; cbn; [| rewrite IH]; lia.
Qed.

Lemma count_total {A} (f : A -> bool) l :
  count f l = total (fun x => if f x then 1 else 0) l.
Proof. rewrite total_if. lia. Qed.

Lemma count_ext {A} (f g : A -> bool) l :
  (forall x, f x = g x) -> count f l = count g l.
Proof. intros H. unfold count. f_equal. apply filter_ext. assumption. Qed.

Lemma count_const {A} (l : list A) v :
  count (fun _ => v) l = if v then length l else 0.
Proof. unfold count. induction l; destruct v; cbn in *; lia. Qed.

Lemma count_map {A B} (f : B -> bool) (g : A -> B) l :
  count f (map g l) = count (fun x => f (g x)) l.
Proof.
  unfold count. induction l as [| x l IH]; [reflexivity |].
  cbn. destruct (f (g x)); cbn; rewrite IH; reflexivity.
Qed.

Lemma count_flat_map {A B} (f : B -> bool) (g : A -> list B) l :
  count f (flat_map g l) = total (fun x => count f (g x)) l.
Proof.
  unfold count, total. induction l as [| x l IH]; [reflexivity |].
  cbn. rewrite filter_app, app_length. unfold list_sum in IH. lia.
Qed.

Lemma count_app {A} (f : A -> bool) l l' :
  count f (l ++ l') = count f l + count f l'.
Proof. unfold count. rewrite filter_app, app_length. reflexivity. Qed.

Lemma count_ext_in {A} (f g : A -> bool) l :
  (forall x, In x l -> f x = g x) -> count f l = count g l.
Proof. intros H. unfold count. f_equal. apply filter_ext_in. assumption. Qed.

Lemma count_negb {A} (f : A -> bool) l :
  count f l + count (fun x => negb (f x)) l = length l.
Proof.
  unfold count. induction l as [| x l IH]; [reflexivity |].
  cbn. destruct (f x); cbn; lia.
Qed.

Lemma count_below {A} (f : A -> bool) l : count f l <= length l.
Proof. pose proof (count_negb f l). lia. Qed.

(* Counting by cases: each x that passes f passes exactly one case. *)
Lemma count_by_case {A} (f : A -> bool) (g : nat -> A -> bool) js l :
  (forall x, In x l ->
     (if f x then 1 else 0) = total (fun j => if g j x then 1 else 0) js) ->
  count f l = total (fun j => count (g j) l) js.
Proof.
  induction l as [| x l IH]; intros H.
  - symmetry. apply total_zero.
  - transitivity ((if f x then 1 else 0) + count f l).
    { unfold count. cbn. destruct (f x); reflexivity. }
    rewrite H by (left; reflexivity).
    rewrite IH by (intros y Hy; apply H; right; assumption).
    rewrite <- total_plus.
    apply total_ext. intros j _. unfold count. cbn. destruct (g j x); reflexivity.
Qed.

(* Two lists without repeats and without a common member. *)
Lemma nodup_app {A} (l l' : list A) :
  NoDup l -> NoDup l' -> (forall x, In x l -> ~ In x l') -> NoDup (l ++ l').
Proof.
  intros ND ND' D. induction ND as [| x l Hx ND IH]; cbn; [assumption |].
  constructor.
  - intros [H | H]%in_app_or; [auto |]. apply (D x); cbn; auto.
  - apply IH. intros y Hy. apply D. cbn; auto.
Qed.

Lemma nodup_cons (cs : list nat) (L : list (list nat)) :
  NoDup cs -> NoDup L -> NoDup (flat_map (fun c => map (cons c) L) cs).
Proof.
  intros NC NL. induction NC as [| c cs Hc NC IH]; cbn; [constructor |].
  apply nodup_app; [| assumption |].
  - apply Injective_map_NoDup; [| assumption]. intros x y. congruence.
  - intros xs (ys & <- & _)%in_map_iff
      (d & Hd & (zs & E & _)%in_map_iff)%in_flat_map. congruence.
Qed.

(* A list without repeats, and a property that one member has. *)
Lemma count_unique {A} (f : A -> bool) x l :
  NoDup l -> In x l -> f x = true ->
  (forall y, In y l -> f y = true -> y = x) -> count f l = 1.
Proof.
  unfold count. intros ND Hx Fx Only.
  assert (I : incl (filter f l) [x]).
  { intros y [Hy Fy]%filter_In. left. symmetry. auto. }
  assert (J : incl [x] (filter f l)).
  { intros y [<- | []]. apply filter_In. auto. }
  apply NoDup_incl_length in I; [| apply NoDup_filter; assumption].
  apply NoDup_incl_length in J; [| repeat constructor; intros []].
  cbn in *. lia.
Qed.

Lemma count_one s l : NoDup l -> In s l -> count (Nat.eqb s) l = 1.
Proof.
  intros ND Hs. apply (count_unique _ s); auto using Nat.eqb_refl.
  intros y _ E%Nat.eqb_eq. auto.
Qed.

(* ---- All sequences of t numbers below m ---- *)

Section Picks.

Variable m : nat.

Fixpoint picks (t : nat) : list (list nat) :=
  match t with
  | 0 => [[]]
  | S t => flat_map (fun c => map (cons c) (picks t)) (seq 0 m)
  end.

(* The list holds each sequence, and holds it once: so counting in
   it is counting in [0,m)^t. *)
Lemma picks_all t xs :
  In xs (picks t) <-> length xs = t /\ Forall (fun c => c < m) xs.
Proof.
  revert xs. induction t as [| t IH]; intros xs; cbn.
  - split.
    + intros [<- | []]. auto.
    + intros [H _]. destruct xs; [auto | discriminate].
  - rewrite in_flat_map. split.
    + intros (c & Hc%in_seq & (ys & <- & Hy)%in_map_iff). apply IH in Hy.
      cbn. split; [lia |]. constructor; [lia | apply Hy].
    + intros [L Fa]. destruct xs as [| c ys]; [discriminate |].
      inversion Fa; subst. exists c. rewrite in_seq. split; [lia |].
      apply in_map, IH. split; [cbn in L; lia | assumption].
Qed.

Lemma picks_nodup t : NoDup (picks t).
Proof.
  induction t as [| t IH]; cbn [picks].
  - repeat constructor. intros [].
  - apply nodup_cons; [apply seq_NoDup | assumption].
Qed.

Lemma picks_length t : length (picks t) = m ^ t.
Proof.
  induction t as [| t IH]; [reflexivity |]. cbn [picks Nat.pow].
  transitivity (count (fun _ : list nat => true) (picks (S t))).
  { rewrite count_const. reflexivity. }
  cbn [picks]. rewrite count_flat_map.
  rewrite (total_ext _ (fun _ => if true then m ^ t else 0)).
  - rewrite (total_if (fun _ => true)), count_const, seq_length. reflexivity.
  - intros c _. rewrite count_const, map_length. assumption.
Qed.

End Picks.

(* ---- Binomial coefficients ---- *)

Fixpoint choose (n k : nat) : nat :=
  match k, n with
  | 0, _ => 1
  | S _, 0 => 0
  | S k', S n => choose n k' + choose n k
  end.

Lemma choose_zero n : choose n 0 = 1.
Proof. destruct n; reflexivity. Qed.

Lemma choose_over n : forall k, n < k -> choose n k = 0.
Proof.
  induction n as [| n IH]; intros [| k] H; try lia; [reflexivity |].
  cbn [choose]. rewrite !IH; lia.
Qed.

Lemma choose_absorb n : forall k,
  S n * choose n k = S k * choose (S n) (S k).
Proof.
  induction n as [| n IH]; intros k.
  - destruct k as [| k]; cbn; lia.
  - destruct k as [| k].
    + pose proof (IH 0) as H. rewrite choose_zero in *.
      change (choose (S (S n)) 1) with (choose (S n) 0 + choose (S n) 1).
      rewrite choose_zero. lia.
    + pose proof (IH k) as H1. pose proof (IH (S k)) as H2.
      change (choose (S (S n)) (S (S k)))
        with (choose (S n) (S k) + choose (S n) (S (S k))).
      change (choose (S n) (S k)) with (choose n k + choose n (S k)) in *.
      change (choose (S n) (S (S k))) with (choose n (S k) + choose n (S (S k))) in *.
      lia.
Qed.
